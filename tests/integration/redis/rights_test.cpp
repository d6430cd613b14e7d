// Passwords and rights: who is not let in is told so, once, and the password is in no text.
#include <fstream>
#include <sstream>

#include "integration/redis/redis_test.hpp"
#include "support/child_process.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {
namespace {

using store::redis::Reply;
using testing::HasSubstr;
using testing::Not;

const std::string kSecret = "open-sesame-4711";

// bob may do everything; deaf may neither publish nor listen; idle may only say hello.
class RedisRights : public RedisTest {
 protected:
  RedisRights()
      : RedisTest({.users = {"user default on nopass ~* &* +@all",
                             "user bob on >" + kSecret + " ~* &* +@all",
                             "user deaf on >" + kSecret + " ~* resetchannels +@all",
                             "user idle on >" + kSecret + " ~* &* +ping"}}) {}

  std::string url_of(const std::string& user, const std::string& password = kSecret) const {
    return "redis://" + user + ":" + password + "@" + proxy().address().text();
  }
  // How many commands the server has seen of a kind.
  std::int64_t calls_of(const std::string& command) {
    const std::string stats = server().must({"INFO", "commandstats"}).text;
    const auto at = stats.find("cmdstat_" + command + ":calls=");
    if (at == std::string::npos) return 0;
    return std::stoll(stats.substr(stats.find('=', at) + 1));
  }
  void let_default_in_no_more() {
    server().must({"ACL", "SETUSER", "default", "resetpass", ">" + kSecret});
  }
};

void expect_no_secret(const std::string& text) { EXPECT_THAT(text, Not(HasSubstr(kSecret))); }

TEST_F(RedisRights, NoPasswordOrAWrongOneIsToldAtOnceAndOnce_F060) {
  let_default_in_no_more();
  for (const std::string& url : {url(), url_of("bob", kSecret + "x"), url_of("nobody")}) {
    const std::uint64_t before = proxy().connections();
    const Stopwatch watch;
    const auto client = connect(url);
    EXPECT_TRUE(fails_with(Errc::permission, client));
    expect_no_secret(client.error().text());
    EXPECT_THAT(client.error().text(), HasSubstr(proxy().address().text())) << "says whom it asked";
    EXPECT_LT(watch.elapsed(), 2s);
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(proxy().connections(), before + 1) << "no second try";
  }
}

TEST_F(RedisRights, WhoeverIsNamedIsNeverTakenForTheDefaultUser_F060) {
  const std::string at = "@" + proxy().address().text();
  for (const std::string user : {"idle", "idle:", "nobody"}) {
    const auto client = connect("redis://" + user + at);
    EXPECT_TRUE(fails_with(Errc::permission, client)) << user;
  }
  server().must({"ACL", "SETUSER", "free", "on", "nopass", "~*", "&*", "+@all"});
  EXPECT_TRUE(connect("redis://free" + at));
}

TEST_F(RedisRights, AMissingRightIsToldAtOnceAndOnce_F060) {
  const Client client = connect(url_of("idle")).value();
  const std::int64_t before = calls_of("evalsha");
  const auto result = client.mutex("lock").acquire();
  EXPECT_TRUE(fails_with(Errc::permission, result));
  expect_no_secret(result.error().text());
  EXPECT_THAT(result.error().text(), HasSubstr("NOPERM"));
  const auto seen = client.inspect();
  EXPECT_TRUE(fails_with(Errc::permission, seen));
  expect_no_secret(seen.error().text());
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(calls_of("evalsha"), before) << "it was not run";
  const std::string stats = server().must({"INFO", "commandstats"}).text;
  EXPECT_THAT(stats, HasSubstr("rejected_calls=1")) << "and asked for once:\n" << stats;
  EXPECT_EQ(proxy().connections(), 1U);
}

TEST_F(RedisRights, ThePasswordIsNowhereToBeSeen_F060_F137) {
  const TempFolder folder;
  std::ofstream(folder / "password") << kSecret << "\n";
  const std::string address = proxy().address().text();
  const std::string from_file =
      "redis://bob@" + address + "?password_file=" + (folder / "password");
  for (const std::string& url : {url_of("bob"), from_file}) {
    const Client client = connect(url).value();
    auto hold = client.mutex("lock").acquire({.reason = "work"});
    ASSERT_TRUE(hold) << hold.error().text();
    expect_no_secret(client.place_of("lock").value());
    const auto locks = client.inspect().value();
    ASSERT_EQ(locks.size(), 1U);
    const HolderRecord& record = locks[0].holders[0].record;
    expect_no_secret(record.program + record.owner + record.host + record.reason);
    const auto busy = client.mutex("lock").try_acquire();
    expect_no_secret(busy.error().text());
    for (const Reply& key : server().must({"KEYS", "*"}).items) expect_no_secret(key.text);
    expect_no_secret(server().must({"CLIENT", "LIST"}).text);
    server().pause();
    expect_no_secret(client.mutex("other").acquire({.wait = 100ms}).error().text());
    server().resume();
    EXPECT_TRUE(hold->release());
  }
}

// A process whose URL names where the password is. Arguments: the URL.
const Role kGuest("redis-guest", [](Parent& parent, const Words& words) {
  const Client client = connect(words.at(0)).value();
  const auto hold = client.mutex("lock").acquire().value();
  parent.tell("held");
  parent.hear();
});

TEST_F(RedisRights, OthersDoNotSeeAPasswordFromAFileInTheListOfProcesses_F137) {
  const TempFolder folder;
  std::ofstream(folder / "password") << kSecret << "\n";
  ChildProcess guest(kGuest, {"redis://bob@" + proxy().address().text() +
                              "?password_file=" + (folder / "password")});
  ASSERT_EQ(guest.hear(), "held");
  for (const char* what : {"cmdline", "environ", "comm"}) {
    std::ifstream file("/proc/" + std::to_string(guest.pid()) + "/" + what);
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(text.str().empty()) << what;
    expect_no_secret(text.str());
  }
}

TEST_F(RedisRights, WithoutChannelsReleasesWorkAndWaitersLookForThemselves_F060_F066) {
  const Client client = connect(url_of("deaf")).value();
  const Client other = connect(url_of("deaf")).value();
  auto hold = client.mutex("lock").acquire().value();
  auto waiting = other.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_wait());
  const std::uint64_t before = proxy().connections();
  EXPECT_TRUE(hold.release());
  const Stopwatch watch;
  const auto next = std::move(waiting).get();
  ASSERT_TRUE(next) << next.error().text();
  EXPECT_GT(next->fence(), hold.fence());
  EXPECT_LT(watch.elapsed(), 7s);
  EXPECT_LE(proxy().connections(), before + 1) << "nobody asks for the channel again and again";
}

TEST_F(RedisRights, AUserThatIsRemovedLosesItsHoldsByItsOwnClockAndIsToldWhy_F061) {
  const Client client = connect(url_of("bob"), {.answer_within = 500ms}).value();
  const auto hold = client.mutex("lock").acquire({.lease = 2s}).value();
  server().must({"ACL", "DELUSER", "bob"});
  const std::uint64_t before = proxy().connections();
  EXPECT_TRUE(comes_to_be_lost(hold));
  const auto next = open_direct().mutex("lock").acquire({.wait = kSoon});
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence(), hold.fence());
  const Stopwatch watch;
  const auto result = client.mutex("other").acquire();
  EXPECT_TRUE(fails_with(Errc::permission, result));
  EXPECT_THAT(result.error().text(), HasSubstr("WRONGPASS"));
  expect_no_secret(result.error().text());
  EXPECT_LT(watch.elapsed(), 2s) << "at once: patience does not help";
  EXPECT_LT(proxy().connections() - before, 20U) << "no storm";
}

TEST_F(RedisRights, AUserThatIsLetInAgainGoesOn_F061) {
  const Client client = connect(url_of("bob"), {.answer_within = 500ms}).value();
  server().must({"ACL", "DELUSER", "bob"});
  EXPECT_TRUE(eventually([&] {
    const auto result = client.mutex("lock").try_acquire();
    return !result && result.error() == Errc::permission;
  }));
  server().must({"ACL", "SETUSER", "bob", "on", ">" + kSecret, "~*", "&*", "+@all"});
  EXPECT_TRUE(eventually([&] { return client.mutex("lock").try_acquire().has_value(); }));
}

// What a server says that lets nobody in from elsewhere, or nobody more.
TEST_F(RedisRights, ServersThatLetNobodyInSayWhy) {
  server().must({"CONFIG", "SET", "maxclients", "1"});
  // With a password that is what comes instead of an answer to it.
  for (const std::string& url : {url(), url_of("bob")}) {
    const auto full = connect(url);
    EXPECT_TRUE(fails_with(Errc::unavailable, full));
    EXPECT_THAT(full.error().text(), HasSubstr("max number of clients"));
  }
  proxy().set(Way::to_client, {.rewrite = [](std::string& bytes) {
                bytes = "-DENIED Redis is running in protected mode because\r\n";
              }});
  EXPECT_TRUE(fails_with(Errc::permission, connect(url())));
}

}  // namespace
}  // namespace holdfast::test
