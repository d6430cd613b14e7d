#pragma once

#include <cstdint>

namespace holdfast::test {

// Makes calls to the file system fail with EIO, in this whole program.
//
// Threads      From any thread; one FailingCalls at a time.
class FailingCalls {
 public:
  enum class Call : std::uint8_t { open, read, write, sync, link, rename };
  enum class How : std::uint8_t {
    not_done,  // as it says
    done,      // though it says not: the answer of a server was lost
    in_part    // only write: half of it, and no error
  };

  FailingCalls() = default;
  ~FailingCalls() { repair(); }
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;

  // The call of this kind that comes after so many others.
  void fail(Call, int after, How);
  // Whether one failed.
  bool repair();
};

}  // namespace holdfast::test
