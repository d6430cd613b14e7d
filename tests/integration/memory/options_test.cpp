// Every option that makes no sense has an error of its own that says what would.
#include "holdfast/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "holdfast/holdfast.hpp"
#include "support/temp_folder.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class Options : public testing::Test {
 protected:
  static void expect(Errc code, std::string_view lock, std::string_view says, const Error& error) {
    EXPECT_EQ(error.errc(), code) << error.text();
    EXPECT_EQ(error.detail().lock, lock);
    EXPECT_THAT(error.text(), HasSubstr(std::string(holdfast::name_of(code))));
    EXPECT_THAT(error.text(), HasSubstr(std::string(says)));
    EXPECT_EQ(error.code(), Outcome::misuse);
  }

  // The same answer whichever way one asks, and the store is not asked at all.
  void refuses(const AcquireOptions& options, Errc code, std::string_view says) {
    const auto asked = alice_.link().counts().all();
    expect(code, "lock", says, alice_.mutex().acquire(options).error());
    expect(code, "lock", says, alice_.mutex().try_acquire(options).error());
    auto pending = alice_.mutex().async_acquire(options);
    EXPECT_TRUE(pending.ready());
    expect(code, "lock", says, std::move(pending).get().error());
    expect(code, "lock", says, run_locked(alice_.mutex(), options, [](Hold&) {}).error());
    EXPECT_EQ(alice_.link().counts().all(), asked);
  }

  HandBench bench_;
  HandBench::Seat& alice_ = bench_.client();
};

TEST_F(Options, NamesAreOneTo512BytesOfAnyValue_F131) {
  for (const std::size_t size : {0U, 513U, 65'536U}) {
    const auto hold = alice_.mutex(std::string(size, 'x')).acquire();
    ASSERT_FALSE(hold);
    EXPECT_EQ(hold.error(), Errc::invalid_name) << size;
    EXPECT_THAT(hold.error().text(), HasSubstr("512"));
    EXPECT_EQ(hold.error().code(), Outcome::misuse);
    EXPECT_LT(hold.error().text().size(), 2'048U) << "a text, not the name back";
  }
  const std::string awkward[] = {std::string(1, '\0'),
                                 std::string("a\0b", 3),
                                 "line\nfeed",
                                 "\r",
                                 " ",
                                 "{}",
                                 "*",
                                 "/",
                                 "..",
                                 "%s%n",
                                 "\"'`",
                                 "\xff\xfe",
                                 "?",
                                 "é",
                                 std::string(512, '\xff')};
  for (const std::string& name : awkward) {
    const auto hold = alice_.mutex(name).acquire();
    ASSERT_TRUE(hold) << hold.error().text();
    EXPECT_EQ(hold->name(), name);
    const auto busy = alice_.mutex(name).try_acquire();
    EXPECT_EQ(busy.error(), Errc::busy);
    EXPECT_EQ(busy.error().detail().lock, name);
    for (const char c : busy.error().text()) EXPECT_GE(static_cast<unsigned char>(c), 0x20U);
  }
}

TEST_F(Options, NamesWithNulAreNotCutThere_F131) {
  const auto longer = alice_.mutex(std::string_view("a\0b", 3)).acquire();
  EXPECT_TRUE(alice_.mutex("a").try_acquire());
}

TEST_F(Options, LeasesAre100MsTo24H_F133) {
  const Duration bad[] = {0s,
                          -1s,
                          1ms,
                          100ms - 1ns,
                          24h + 1ns,
                          Duration(1'000'000'000'000'000'000),
                          Duration::max(),
                          Duration::min()};
  for (const Duration lease : bad)
    refuses({.lease = lease}, Errc::invalid_lease, "100 ms and 24 h");
  for (const Duration lease : {Duration(100ms), Duration(24h)}) {
    EXPECT_TRUE(alice_.mutex().acquire({.lease = lease}));
  }
}

TEST_F(Options, ANegativeWaitIsOneAttempt_F134) {
  const auto held = alice_.mutex().acquire();
  for (const Duration wait : {Duration(0s), Duration(-1ns), Duration(-1h), Duration::min()}) {
    EXPECT_EQ(alice_.mutex().acquire({.wait = wait}).error(), Errc::busy);
    auto pending = alice_.mutex().async_acquire({.wait = wait});
    EXPECT_EQ(std::move(pending).get().error(), Errc::busy);
    auto limited = alice_.mutex().async_acquire();
    EXPECT_EQ(std::move(limited).get_for(wait).error(), Errc::timed_out);
  }
}

TEST_F(Options, AHugeWaitIsForEver_F134) {
  std::optional<Hold> held(alice_.mutex().acquire().value());
  auto one = alice_.mutex().async_acquire({.wait = Duration::max()});
  auto two = alice_.mutex().async_acquire({.wait = Duration::max() - 1ns});
  bench_.let_pass(10h);
  EXPECT_FALSE(one.ready());
  EXPECT_FALSE(two.ready());
  held.reset();
  bench_.settle();
  EXPECT_TRUE(std::move(one).get_for(Duration::max()));
  bench_.settle();
  EXPECT_TRUE(std::move(two).get_for(Duration::max() - 1ns));
}

TEST_F(Options, MaxHoldIsMoreThanNothing) {
  for (const Duration most : {Duration(0s), Duration(-1ns), Duration::min()}) {
    refuses({.max_hold = most}, Errc::invalid_argument, "max_hold");
  }
  const auto hold = alice_.mutex().acquire({.max_hold = 1ms});
  ASSERT_TRUE(hold);
  EXPECT_LE(hold->remaining(), 1ms);
}

TEST_F(Options, AReasonIsAtMost1024Bytes_F139) {
  refuses({.reason = std::string(kMaxReason + 1, 'x')}, Errc::invalid_argument, "1024");
  refuses({.reason = std::string(10'000'000, 'x')}, Errc::invalid_argument, "1024");
  const auto hold = alice_.mutex().acquire({.reason = std::string(kMaxReason, 'x')});
  ASSERT_TRUE(hold);
  EXPECT_EQ(alice_.mutex().try_acquire().error().detail().holder->reason.size(), kMaxReason);
}

TEST_F(Options, AStopThatWasRequestedBeforeIsCancelled) {
  std::stop_source stop;
  stop.request_stop();
  const auto asked = alice_.link().counts().all();
  const auto hold = alice_.mutex().acquire({.stop = stop.get_token()});
  ASSERT_FALSE(hold);
  EXPECT_EQ(hold.error(), Errc::cancelled);
  EXPECT_EQ(hold.error().detail().lock, "lock");
  EXPECT_EQ(alice_.link().counts().all(), asked);
}

TEST_F(Options, ABusyErrorNamesTheHolder) {
  auto& bob = bench_.client({.program = "billing"});
  const auto held = bob.mutex().acquire({.lease = 30s, .reason = "nightly invoices"});
  bench_.let_pass(5s);
  for (const auto& hold :
       {alice_.mutex().try_acquire().error(), alice_.mutex().acquire({.wait = 0s}).error()}) {
    EXPECT_EQ(hold.errc(), Errc::busy);
    const Error::Detail& detail = hold.detail();
    ASSERT_TRUE(detail.holder);
    EXPECT_EQ(detail.holder->program, "billing");
    EXPECT_EQ(detail.holder->reason, "nightly invoices");
    EXPECT_EQ(detail.lease_left, 25s);
    EXPECT_THAT(hold.text(), HasSubstr("billing"));
    EXPECT_EQ(hold.code(), Outcome::not_held);
  }
}

// ---- connect() ----

class Urls : public testing::Test {
 protected:
  Urls() { unsetenv("HOLDFAST_URL"); }
  ~Urls() override { unsetenv("HOLDFAST_URL"); }

  static void refuses(std::string_view url, Errc code, const std::string& says) {
    const auto client = connect(url);
    ASSERT_FALSE(client) << url;
    EXPECT_EQ(client.error(), code) << client.error().text();
    EXPECT_THAT(client.error().text(), HasSubstr(says));
    EXPECT_EQ(client.error().code(), Outcome::misuse);
  }
};

TEST_F(Urls, NoneMeansTheEmbeddedStore) {
  const TempFolder folder;
  setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
  const auto client = connect("");
  unsetenv("XDG_STATE_HOME");
  ASSERT_TRUE(client) << client.error().text();
  EXPECT_TRUE(client->mutex("lock").try_acquire());
  EXPECT_TRUE(std::filesystem::exists(folder / "holdfast/locks.db"));
}

TEST_F(Urls, TheVariableIsUsedIfThereIsNone) {
  setenv("HOLDFAST_URL", "memory:variable", 1);
  const auto by_variable = connect();
  ASSERT_TRUE(by_variable);
  const auto held = by_variable->mutex("lock").acquire();
  const auto by_name = connect("memory:variable");
  EXPECT_EQ(by_name->mutex("lock").try_acquire().error(), Errc::busy);
  setenv("HOLDFAST_URL", "no-such-store:", 1);
  refuses("", Errc::unsupported, "no-such-store");
}

TEST_F(Urls, AnUnknownSchemeIsUnsupportedAndTheKnownAreNamed) {
  refuses("floppy:/dev/fd0", Errc::unsupported, "memory:");
  refuses("floppy:/dev/fd0", Errc::unsupported, "\"floppy:\"");
  refuses("memory2:", Errc::unsupported, "memory:");
}

TEST_F(Urls, AnUnknownOptionIsNamed) {
  refuses("memory:?colour=green", Errc::invalid_argument, "\"colour\"");
}

TEST_F(Urls, WhatIsNoUrlIsRefusedAndNotRepeated_F137_F138) {
  for (const char* text : {"memory", ":", "//secret@host", "memory:?a", "memory:?%zz=1"}) {
    const auto client = connect(text);
    ASSERT_FALSE(client) << text;
    EXPECT_EQ(client.error(), Errc::invalid_argument) << client.error().text();
    EXPECT_THAT(client.error().text(), Not(HasSubstr("secret")));
  }
}

// ---- ClientOptions ----

void refuses(ClientOptions options, const char* names) {
  const auto client = connect("memory:options", std::move(options));
  ASSERT_FALSE(client) << names;
  EXPECT_EQ(client.error(), Errc::invalid_argument);
  EXPECT_THAT(client.error().text(), HasSubstr(names));
}

TEST(ClientOptionsTest, EachThatMakesNoSenseIsNamed) {
  for (const Duration bad : {Duration(0s), Duration(-1s), Duration::min()}) {
    refuses({.answer_within = bad}, "answer_within");
    refuses({.patience = bad}, "patience");
  }
  refuses({.drift_ppm = 100'001}, "drift_ppm");
  refuses({.drift_constant = -1ns}, "drift_constant");
  refuses({.drift_constant = 26ms}, "drift_constant");
  refuses({.handoff_count = 1024}, "handoff_count");
  refuses({.close_within = -1ns}, "close_within");
}

// Whoever knows a store that always answers may say so: it is taken, or refused by name.
TEST(ClientOptionsTest, TimesMayBeForEver) {
  const auto works = [](ClientOptions options, const char* what) {
    const auto client = connect("memory:options", std::move(options));
    if (!client) {
      EXPECT_THAT(client.error().text(), HasSubstr(what));
      return;
    }
    const auto hold = client->mutex("lock").acquire({.lease = 100ms, .renew = false});
    ASSERT_TRUE(hold) << what;
    EXPECT_EQ(client->mutex("lock").acquire({.wait = 1ms}).error(), Errc::timed_out) << what;
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(client->mutex("lock").acquire()->release()) << what;
  };
  works({.answer_within = kForever}, "answer_within");
  works({.patience = kForever}, "patience");
  works({.handoff_time = kForever}, "handoff_time");
  works({.close_within = kForever}, "close_within");
}

TEST(ClientOptionsTest, TheLargestDriftLeavesTheShortestLeaseValid) {
  const auto client =
      connect("memory:options", {.drift_ppm = 100'000, .drift_constant = 25ms}).value();
  const auto hold = client.mutex("lock").acquire({.lease = kMinLease, .renew = false});
  ASSERT_TRUE(hold);
  EXPECT_LE(hold->remaining(), 65ms);
}

TEST(ClientOptionsTest, TheNameOfAProgramHasALimit_F139) {
  for (const std::size_t size : {kMaxProgram + 1, std::size_t{10'000'000}}) {
    const auto refused = connect("memory:options", {.program = std::string(size, 'x')});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), Errc::invalid_argument);
    EXPECT_THAT(refused.error().text(), HasSubstr("256"));
  }
  EXPECT_TRUE(connect("memory:options", {.program = std::string(kMaxProgram, 'x')}));
}

// Nobody can be blamed for a name that somebody else gave it: it is cut.
TEST(ClientOptionsTest, TheNameThatAProgramWasStartedByIsCut_F139) {
  std::string endless(10'000'000, 'x');
  char* const before = std::exchange(program_invocation_short_name, endless.data());
  const auto client = connect("memory:options");
  program_invocation_short_name = before;
  ASSERT_TRUE(client) << client.error().text();
  const auto held = client->mutex("lock").acquire();
  EXPECT_EQ(client->mutex("lock").try_acquire().error().detail().holder->program,
            endless.substr(0, kMaxProgram));
}

TEST(ClientOptionsTest, TheProgramIsNamedInTheRecord) {
  const auto named = connect("memory:options", {.program = "billing"}).value();
  const auto unnamed = connect("memory:options").value();
  for (const Client* client : {&named, &unnamed}) {
    const auto hold = client->mutex("lock").acquire();
    const auto holder = client->mutex("lock").try_acquire().error().detail().holder;
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->program == "billing", client == &named);
    EXPECT_FALSE(holder->program.empty());
    EXPECT_FALSE(holder->host.empty());
    EXPECT_EQ(holder->pid, getpid());
  }
}

}  // namespace
}  // namespace holdfast::test
