#pragma once

#include <string>
#include <utility>

namespace holdfast::test {

// A file system of 1 MiB at a folder, seen by this process only: in a mount namespace of its own, so
// that nothing stays behind however the test ends.
class SmallDisk {
 public:
  explicit SmallDisk(std::string folder);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk();

  // Why there is none: mounting needs rights that a test may not have. Empty if all is well.
  const std::string& problem() const { return problem_; }

  void fill() const;  // to the last page
  void make_room() const;
  bool make_read_only() const;

 private:
  std::string filler() const { return folder_ + "/filler"; }

  const std::string folder_;
  std::string problem_;
};

}  // namespace holdfast::test
