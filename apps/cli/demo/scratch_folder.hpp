#pragma once

#include <filesystem>

namespace holdfast::cli {

// A folder of our own under $TMPDIR that goes with this object.
class ScratchFolder {
 public:
  ScratchFolder();  // throws Refusal
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast::cli
