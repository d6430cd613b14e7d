// What a URL may say, and what a client of this store sees.
#include <utime.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "directory_test.hpp"

namespace holdfast::test {
namespace {

class DirectoryUrl : public DirectoryTest {
 protected:
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(folder())) << "nothing is made";
  }
};

TEST_F(DirectoryUrl, WithAnUnknownOptionIsRefused) {
  expect_refused(Errc::invalid_argument, url() + "?colour=red", "not \"colour\"");
}

TEST_F(DirectoryUrl, WithAStrangeModeIsRefused) {
  for (const char* mode : {"123", "0777", "600", "0640", "", "0600x"}) {
    expect_refused(Errc::invalid_argument, url() + "?mode=" + mode, "mode is");
  }
}

TEST_F(DirectoryUrl, WithoutAnAbsolutePathIsRefused) {
  for (const char* path : {"", "locks", "./locks", "//host/locks"}) {
    expect_refused(Errc::invalid_argument, std::string("dir:") + path, "absolute path");
  }
}

// Made here while the share is not mounted, it would keep nobody out.
TEST_F(DirectoryUrl, OfAMissingFolderIsRefused) {
  expect_refused(Errc::permission, url() + "/not/there", "make it first");
}

class DirectoryClients : public DirectoryTest {};

TEST_F(DirectoryClients, OfOneProcessExcludeEachOther) {
  const Client one = open(), other = connect("dir://" + folder()).value();
  auto hold = one.mutex("lock").acquire({.reason = "nightly invoices"});
  ASSERT_TRUE(hold);
  const auto busy = other.mutex("lock").try_acquire();
  ASSERT_TRUE(fails_with(Errc::busy, busy));
  EXPECT_EQ(busy.error().detail().holder->reason, "nightly invoices");
  auto waiting = other.mutex("lock").async_acquire();
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(waiting.ready());
  const FencingToken fence = hold->fence();
  ASSERT_TRUE(hold->release());
  const auto next = std::move(waiting).get_for(kSoon);
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), fence);
}

TEST_F(DirectoryClients, CannotHaveAStrictOrder) {
  EXPECT_TRUE(fails_with(Errc::unsupported, open().mutex("lock").acquire({.order = Order::fifo})));
}

// Whoever asks the store itself is told the same.
TEST_F(DirectoryClients, CannotHaveAStrictOrderFromTheStoreEither) {
  const ManualClock clock;
  OneStore store(folder(), clock, 1);
  store::GrantRequest request = store.request(1, "lock");
  request.order = Order::fifo;
  Answer<store::GrantReply> answer;
  store.store().try_grant(request, answer.call());
  ASSERT_NE(answer.get<store::Rejected>(), nullptr);
  EXPECT_EQ(answer.get<store::Rejected>()->why, Errc::unsupported);
}

TEST_F(DirectoryClients, SeeWhereALockIs) {
  const Client client = open();
  EXPECT_EQ(client.place_of("lock").value(), lock_folder());
  EXPECT_EQ(client.place_of("a/b").value(), folder() + "/a%2fb");
}

TEST_F(DirectoryClients, AreToldAboutTheFolder) {
  const Client client = open();
  ASSERT_TRUE(client.mutex("lock").acquire());
  const auto found = [&](std::string_view subject) {
    const auto findings = client.examine().value();
    for (const Finding& each : findings) {
      if (each.subject == subject) return each;
    }
    return Finding{Finding::Level::problem, "nothing", "nothing"};
  };
  EXPECT_EQ(found("folder").text, folder());
  EXPECT_EQ(found("locks").text, "1 have a folder here");
  EXPECT_NE(found("file system").text, "nothing");
  EXPECT_EQ(found("left-overs").level, Finding::Level::fact);
  const std::string old = lock_folder() + "/.p-somebody-1";
  std::ofstream(old) << "half a claim";
  EXPECT_EQ(found("left-overs").level, Finding::Level::fact) << "its client may still live";
  const utimbuf last_week{1'700'000'000, 1'700'000'000};
  ASSERT_EQ(::utime(old.c_str(), &last_week), 0);
  EXPECT_EQ(found("left-overs").level, Finding::Level::warning);
}

// Between threads of a process the lock goes on with the spare fences of its generation.
TEST_F(DirectoryClients, GetTheSpareFencesThatFitBelowTheNextGeneration) {
  const ManualClock clock;
  OneStore store(folder(), clock, 1);
  for (const auto& [asked, given] : {std::pair{16U, 16U}, {1023U, 1023U}, {5000U, 1023U}}) {
    store::GrantRequest request = store.request(1, "lock");
    request.spare = asked;
    Answer<store::GrantReply> answer;
    store.store().try_grant(request, answer.call());
    const auto* granted = answer.get<store::Granted>();
    ASSERT_NE(granted, nullptr);
    EXPECT_EQ(granted->spare, given);
    ASSERT_TRUE(store.releases(granted->fence));
    const std::uint64_t next = store.granted(2);
    EXPECT_GT(next, granted->fence + granted->spare);
    ASSERT_TRUE(store.releases(next, 2));
  }
}

}  // namespace
}  // namespace holdfast::test
