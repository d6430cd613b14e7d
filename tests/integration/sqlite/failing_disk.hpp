#pragma once

#include <cstdint>

namespace holdfast::test {

// Makes calls of SQLite to its files fail, in this process and in what opens a database after the first
// FailingDisk was made.
//
// Threads      From any thread; one FailingDisk at a time.
class FailingDisk {
 public:
  enum class Call : std::uint8_t { read, write, sync };
  enum class How : std::uint8_t { once, from_then_on };

  FailingDisk();
  ~FailingDisk() { repair(); }
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;

  // The call of this kind that comes after so many others.
  void fail(Call, int after, How);
  // Whether one failed.
  bool repair();
};

}  // namespace holdfast::test
