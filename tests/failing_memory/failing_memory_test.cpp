#include "failing_memory/failing_memory.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>

namespace holdfast::test {
namespace {

// Whether there was memory. Seen by the compiler as something it cannot leave out.
bool one_request() {
  try {
    ::operator delete(::operator new(8));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

TEST(FailingMemory, FailsOnceAtThatRequest) {
  FailingMemory memory(3);
  EXPECT_TRUE(one_request());
  EXPECT_TRUE(one_request());
  EXPECT_FALSE(memory.failed());
  EXPECT_FALSE(one_request());
  EXPECT_TRUE(memory.failed());
  EXPECT_TRUE(one_request());
}

TEST(FailingMemory, FailsSomeTimesInARow) {
  const FailingMemory memory(2, FailingMemory::Whose::this_thread, 2);
  EXPECT_TRUE(one_request());
  EXPECT_FALSE(one_request());
  EXPECT_FALSE(one_request());
  EXPECT_TRUE(one_request());
}

TEST(FailingMemory, LeavesOtherThreadsAlone) {
  bool other = false;
  std::thread thread;
  {
    FailingMemory memory(1000);
    thread = std::thread([&] {
      other = true;
      for (int i = 0; i < 2000; ++i) other = other && one_request();
    });
    thread.join();
    EXPECT_FALSE(memory.failed());
  }
  EXPECT_TRUE(other);
}

TEST(FailingMemory, FailsInAnyThreadIfAskedTo) {
  FailingMemory memory(1000, FailingMemory::Whose::all_threads);
  std::thread thread([] {
    for (int i = 0; i < 2000; ++i) one_request();
  });
  thread.join();
  EXPECT_TRUE(memory.failed());
}

TEST(FailingMemory, IsOverWhenItEnds) {
  { FailingMemory memory(1); }
  EXPECT_TRUE(one_request());
}

}  // namespace
}  // namespace holdfast::test
