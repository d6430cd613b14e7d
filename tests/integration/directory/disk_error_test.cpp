// F122: each open, read, write, fsync, link and rename of a verb fails, one by one.
#include <cerrno>
#include <cstring>
#include <tuple>

#include "directory_test.hpp"
#include "failing_calls.hpp"

namespace holdfast::test {
namespace {

using store::Granted;
using store::GrantReply;
using store::NoAnswer;
using store::ReleaseReply;
using store::RenewReply;
using testing::HasSubstr;

using Call = FailingCalls::Call;
using How = FailingCalls::How;

struct Fault {
  Call call;
  How how;
  const char* name;
};

class DirectoryDiskError : public DirectoryTest, public testing::WithParamInterface<Fault> {
 protected:
  void fail(int after) { disk_.fail(GetParam().call, after, GetParam().how); }
  bool repair() { return disk_.repair(); }

  // A round for each call that the verb makes, and one in which none fails any more.
  template <class Round>
  void each_call_fails(Round round) {
    int failed = 0;
    for (int after = 0; after < 100; ++after) {
      SCOPED_TRACE("after " + std::to_string(after) + " calls");
      if (!round(after, "lock" + std::to_string(after))) {
        EXPECT_TRUE(failed > 0 || !is_needed()) << "the verb makes no such call";
        return;
      }
      if (HasFailure()) return;
      ++failed;
    }
    ADD_FAILURE() << "the verb never comes to its end";
  }

  static void expect_to_say_so(const NoAnswer& none) {
    EXPECT_THAT(none.text, HasSubstr(std::strerror(EIO)));
    EXPECT_EQ(none.why, Errc::unavailable);
  }

  // What was not written is not believed to be. (Looking and cleaning up may well fail in silence: it
  // is done again.)
  static bool must_be_told() {
    const Fault& fault = GetParam();
    return fault.how == How::not_done && fault.call != Call::open && fault.call != Call::read;
  }

  // A release links a marker, and that is all.
  void needs(std::initializer_list<Call> calls) {
    needed_ = std::find(calls.begin(), calls.end(), GetParam().call) != calls.end();
  }
  bool is_needed() const { return needed_; }

  ManualClock clock_;
  OneStore alice_{folder(), clock_, 1};
  OneStore bob_{folder(), clock_, 2};

 private:
  FailingCalls disk_;
  bool needed_ = true;
};

TEST_P(DirectoryDiskError, UnderAnAcquireIsNeverALock_F122) {
  each_call_fails([&](int after, const std::string& name) {
    fail(after);
    GrantReply reply = alice_.ask(1, name);
    const bool failed = repair();
    if (failed && must_be_told()) {
      EXPECT_TRUE(std::holds_alternative<NoAnswer>(reply));
    }
    if (const auto* none = std::get_if<NoAnswer>(&reply)) {
      expect_to_say_so(*none);
      if (!none->executed) {
        const std::uint64_t others = bob_.granted(1, name);
        EXPECT_NE(others, 0U) << "nothing was left of it";
        EXPECT_TRUE(bob_.releases(others, 1, name));
      }
      reply = alice_.ask(1, name);  // as the engine does it
    }
    const auto* const granted = std::get_if<Granted>(&reply);
    EXPECT_NE(granted, nullptr) << "nobody else is there";
    if (granted == nullptr) return failed;
    EXPECT_EQ(bob_.granted(1, name), 0U) << "it is held";
    EXPECT_TRUE(alice_.renews(granted->fence, 1, name));
    EXPECT_TRUE(alice_.releases(granted->fence, 1, name));
    EXPECT_GT(bob_.granted(1, name), granted->fence);
    EXPECT_TRUE(files('.', name).empty()) << "no private file stays";
    return failed;
  });
}

TEST_P(DirectoryDiskError, UnderARenewalProlongsNothingThatIsNotKept_F122) {
  needs({Call::open, Call::read, Call::write, Call::sync, Call::rename});
  each_call_fails([&](int after, const std::string& name) {
    const std::uint64_t fence = alice_.granted(1, name);
    EXPECT_EQ(bob_.granted(1, name), 0U);  // his stopwatch runs
    clock_.advance(OneStore::kLease / 2);
    fail(after);
    const bool renewed = alice_.renews(fence, 1, name);
    const bool failed = repair();
    if (failed && must_be_told()) {
      EXPECT_FALSE(renewed);
    }
    // Half a lease later it would be over, were it not renewed.
    clock_.advance(OneStore::kLease / 2);
    if (renewed) {
      EXPECT_TRUE(alice_.renews(fence, 1, name)) << "it said so";
      EXPECT_EQ(bob_.granted(1, name), 0U);
      EXPECT_TRUE(alice_.releases(fence, 1, name));
    } else {
      EXPECT_FALSE(alice_.renews(fence, 1, name)) << "the old lease counts, and it is over";
    }
    EXPECT_GT(bob_.granted(1, name), fence) << "the holder has given up";
    return failed;
  });
}

TEST_P(DirectoryDiskError, UnderARenewalCostsNothingIfTheNextOneIsAnswered_F122) {
  needs({Call::open, Call::read, Call::write, Call::sync, Call::rename});
  each_call_fails([&](int after, const std::string& name) {
    const std::uint64_t fence = alice_.granted(1, name);
    fail(after);
    static_cast<void>(alice_.renews(fence, 1, name));
    const bool failed = repair();
    EXPECT_TRUE(alice_.renews(fence, 1, name));
    EXPECT_EQ(bob_.granted(1, name), 0U);
    EXPECT_TRUE(alice_.releases(fence, 1, name));
    return failed;
  });
}

TEST_P(DirectoryDiskError, UnderAReleaseIsNotCalledReleased_F122) {
  needs({Call::open, Call::read, Call::link});
  each_call_fails([&](int after, const std::string& name) {
    const std::uint64_t fence = alice_.granted(1, name);
    fail(after);
    const bool released = alice_.releases(fence, 1, name);
    const bool failed = repair();
    if (failed && must_be_told()) {
      EXPECT_FALSE(released);
    }
    if (!released) static_cast<void>(alice_.releases(fence, 1, name));  // as the engine does it
    EXPECT_GT(bob_.granted(1, name), fence) << (released ? "it said so" : "it was asked twice");
    return failed;
  });
}

INSTANTIATE_TEST_SUITE_P(Calls, DirectoryDiskError,
                         testing::Values(Fault{Call::open, How::not_done, "Open"},
                                         Fault{Call::read, How::not_done, "Read"},
                                         Fault{Call::write, How::not_done, "Write"},
                                         Fault{Call::write, How::in_part, "ShortWrite"},
                                         Fault{Call::sync, How::not_done, "Sync"},
                                         Fault{Call::link, How::not_done, "Link"},
                                         Fault{Call::link, How::done, "LinkThatWasDone"},
                                         Fault{Call::rename, How::not_done, "Rename"},
                                         Fault{Call::rename, How::done, "RenameThatWasDone"}),
                         [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace holdfast::test
