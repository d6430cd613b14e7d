#include "holdfast/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace holdfast {
namespace {

static_assert(!std::is_copy_constructible_v<Task>);
static_assert(std::is_nothrow_move_constructible_v<Task>);
static_assert(!std::is_constructible_v<Task, int>);

TEST(Task, IsEmptyUnlessGivenAFunction) {
  EXPECT_FALSE(Task());
  EXPECT_TRUE(Task([] {}));
}

TEST(Task, OwnsMoveOnlyThingsUntilItIsDropped) {
  auto owned = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = owned;
  {
    Task task([p = std::make_unique<std::shared_ptr<int>>(std::move(owned))] { ++**p; });
    task();
    EXPECT_EQ(*seen.lock(), 1);
  }
  EXPECT_TRUE(seen.expired());
}

TEST(Task, MovesAndLeavesAnEmptyOneBehind) {
  int runs = 0;
  Task first([&runs] { ++runs; });
  Task second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
  first = std::move(second);
  first();
  EXPECT_EQ(runs, 1);
}

TEST(Task, TakesAFunctionPointer) {
  static int runs = 0;
  void (*function)() = [] { ++runs; };
  Task task(function);
  task();
  EXPECT_EQ(runs, 1);
}

TEST(Task, LetsExceptionsThrough) {
  Task task([] { throw std::runtime_error("x"); });
  EXPECT_THROW(task(), std::runtime_error);
}

}  // namespace
}  // namespace holdfast
