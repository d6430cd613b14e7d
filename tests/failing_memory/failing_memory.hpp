// A process that is out of memory for a moment. Only in the program that links failing_memory.cpp, which
// replaces operator new; SQLite's own allocator asks here, too.
#pragma once

namespace holdfast::test {

// While it lives, one request for memory fails, or some in a row: the n-th (the first is 1) of this thread, or
// of all.
//
// Threads      One object at a time.
class FailingMemory {
 public:
  enum class Whose { this_thread, all_threads };
  explicit FailingMemory(int n, Whose = Whose::this_thread, int in_a_row = 1);
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory() { stop(); }

  void stop();          // from now on there is memory again
  bool failed() const;  // it came to that request
};

// Makes SQLite ask here. Once, before its first use.
void let_sqlite_fail();

}  // namespace holdfast::test
