#include "transport/spare_fds.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace holdfast::transport {
namespace {

// Fails for want of descriptors so often.
struct Attempt {
  int fails;
  int error = EMFILE;
  int calls = 0;
  int operator()() {
    if (++calls > fails) return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    errno = error;
    return -1;
  }
};

TEST(SpareFds, AreGivenUpAsLongAsItTakes_F045) {
  SpareFds spare(3);
  EXPECT_TRUE(spare.complete());
  Attempt attempt{.fails = 2};
  EXPECT_TRUE(spare.open([&] { return attempt(); }));
  EXPECT_EQ(attempt.calls, 3);
  EXPECT_FALSE(spare.complete());
  { const SpareFds::Use use(spare); }
  EXPECT_TRUE(spare.complete()) << "and kept back anew";
}

TEST(SpareFds, DoNotLastForEver_F045) {
  SpareFds spare(3);
  Attempt attempt{.fails = 100};
  EXPECT_FALSE(spare.open([&] { return attempt(); }));
  EXPECT_EQ(errno, EMFILE);
  EXPECT_EQ(attempt.calls, 4);
}

TEST(SpareFds, AreKeptIfSomethingElseIsWrong_F045) {
  SpareFds spare(3);
  Attempt attempt{.fails = 1, .error = EACCES};
  EXPECT_FALSE(spare.open([&] { return attempt(); }));
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(attempt.calls, 1);
  EXPECT_TRUE(spare.complete());
}

}  // namespace
}  // namespace holdfast::transport
