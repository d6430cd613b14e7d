// What examine() says about servers that are set up in different ways, and which rights locks need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "store/redis/rights.hpp"
#include "store/redis/script.hpp"
#include "store/redis/server_findings.hpp"
#include "support/clock_shim/clock_shim.hpp"
#include "support/outcome.hpp"
#include "support/servers/redis_server.hpp"
#include "support/soon.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using Level = Finding::Level;

std::string url_of(const RedisServer& server, const std::string& user = "") {
  return "redis://" + user + "127.0.0.1:" + std::to_string(server.port());
}

Finding found(const std::string& subject, const std::string& url) {
  const auto client = connect(url);
  if (!client) return {Level::problem, subject, client.error().text()};
  const auto findings = client->examine();
  if (!findings) return {Level::problem, subject, findings.error().text()};
  for (const Finding& each : *findings) {
    if (each.subject == subject) return each;
  }
  return {Level::fact, subject, "nothing"};
}

void expect(Level level, const std::string& subject, const std::string& text,
            const RedisServer& server) {
  const Finding it = found(subject, url_of(server));
  EXPECT_EQ(it.level, level) << it.text;
  EXPECT_THAT(it.text, HasSubstr(text)) << subject;
}

TEST(RedisExamination, SaysWhatTheServerIs) {
  RedisServer server;
  expect(Level::fact, "server", "standalone", server);
  expect(Level::fact, "replication", "no replicas", server);
  expect(Level::fact, "eviction", "noeviction", server);
  expect(Level::fact, "memory", "no limit", server);
  expect(Level::fact, "clock", "from ours", server);
  expect(Level::fact, "connection", "on this machine", server);
  expect(Level::warning, "user", "no password", server);
  expect(Level::fact, "rights", "all that locks need", server);
  expect(Level::fact, "keyspace", "db0", server);
  EXPECT_EQ(server.must({"DBSIZE"}).integer, 0) << "it leaves nothing behind";
}

TEST(RedisExamination, WarnsOfWhatMayBeEvicted_F058) {
  RedisServer server;
  server.must({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  expect(Level::warning, "eviction", "while there is no maxmemory", server);
  server.must({"CONFIG", "SET", "maxmemory", "100mb"});
  expect(Level::problem, "eviction", "allkeys-lru: held locks", server);
  server.must({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
  expect(Level::warning, "eviction", "volatile-ttl: keys that expire", server);
}

TEST(RedisExamination, WarnsOfMemoryThatIsNearlyUsed) {
  RedisServer server;
  server.must({"SET", "ballast", std::string(20'000'000, 'x')});
  server.must({"CONFIG", "SET", "maxmemory", "1000mb"});
  expect(Level::fact, "memory", "of 1000.0 MiB", server);
  server.must({"CONFIG", "SET", "maxmemory", "20mb"});
  expect(Level::warning, "memory", "no lock can be taken", server);
}

TEST(RedisExamination, SaysWhatARestartForgets_F047) {
  RedisServer server;
  expect(Level::warning, "persistence", "no append-only file: a restart forgets", server);
  server.must({"CONFIG", "SET", "save", "60 1000"});
  expect(Level::warning, "persistence", "snapshots only (save 60 1000)", server);
  RedisServer keeping({.append_only = true});
  expect(Level::warning, "persistence", "every second", keeping);
  keeping.must({"CONFIG", "SET", "appendfsync", "always"});
  expect(Level::fact, "persistence", "before each answer", keeping);
  keeping.must({"CONFIG", "SET", "appendfsync", "no"});
  expect(Level::warning, "persistence", "not synced", keeping);
}

TEST(RedisExamination, WarnsOfReplicasAndObjectsToBeingOne) {
  RedisServer master;
  RedisServer replica;
  replica.must({"REPLICAOF", "127.0.0.1", std::to_string(master.port())});
  EXPECT_TRUE(
      eventually([&] { return found("replication", url_of(master)).level == Level::warning; }));
  expect(Level::warning, "replication", "1 replica(s)", master);
  expect(Level::warning, "replication", "min-replicas-to-write", master);
  expect(Level::problem, "replication", "this is a replica of 127.0.0.1", replica);
  expect(Level::fact, "rights", "all that locks need", replica);
}

TEST(RedisExamination, WarnsOfAClusterAndObjectsToASentinel) {
  RedisServer cluster({.more = {"--cluster-enabled", "yes"}});
  expect(Level::warning, "server", "cluster", cluster);

  store::redis::ServerInfo info;
  info.add_info(
      {.type = store::redis::Reply::Type::text, .text = "# Server\r\nredis_mode:sentinel\r\n"});
  EXPECT_EQ(store::redis::findings_about(info, {}).front().level, Level::problem);
}

TEST(RedisExamination, WarnsOfAClockThatIsFarOff) {
  ClockShim clocks;
  RedisServer server({.environment = clocks.environment()});
  clocks.step(ShimClock::wall, 1h);
  expect(Level::warning, "clock", "+36", server);
}

TEST(RedisExamination, SaysHowTheConnectionIsSecured) {
  using store::redis::Address;
  using store::redis::connection_finding;
  const Address far{.server = {.endpoint = {"db1", 6379}}};
  EXPECT_EQ(connection_finding(far).level, Level::warning);
  EXPECT_EQ(connection_finding({.server = {.socket_path = "/run/redis.sock"}}).level, Level::fact);
  Address tls{.server = {.endpoint = {"db1", 6379}, .tls = true}};
  EXPECT_EQ(connection_finding(tls).level, Level::fact);
  tls.server.tls_settings.verify = false;
  EXPECT_THAT(connection_finding(tls).text, HasSubstr("verify=off"));
}

// What a server says about itself is outside input.
TEST(RedisExamination, NonsenseIsUnknown) {
  using store::redis::Reply;
  store::redis::ServerInfo info;
  info.add_config({});
  info.add_info({.type = Reply::Type::text,
                 .text = "used_memory:-1\nmaxmemory:x\nrole\n:\nredis_version:\x1b[1m\n"});
  for (const Finding& each : store::redis::findings_about(info, {})) {
    EXPECT_EQ(each.text.find('\x1b'), std::string::npos);
    EXPECT_EQ(each.level, Level::fact) << each.subject << ": " << each.text;
  }
  const Reply time{
      .type = Reply::Type::array,
      .items = {{.type = Reply::Type::text, .text = "99999999999999999"}, {.text = "1"}}};
  EXPECT_EQ(store::redis::clock_finding(time, {}, {}).level, Level::problem);
  EXPECT_EQ(store::redis::rights_in({}, "EVAL").front().level, Level::problem);
}

// --- rights ---

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::set<std::string> commands_in(std::string_view script) {
  std::set<std::string> commands;
  const std::string text(script);
  const std::regex word("(?:call|publish|try)\\((?:[^()']*\\bor )?'([A-Z]+)'");
  for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) {
    commands.insert(lower((*it)[1]));
  }
  return commands;
}

TEST(RedisLeastRights, TheLineNamesEveryCommandOfTheScripts) {
  using namespace store::redis;
  std::set<std::string> used;
  for (const Script* script :
       {&k_try_grant_script, &k_renew_script, &k_release_script, &k_withdraw_script,
        &k_force_release_script, &k_inspect_script, &k_cell_write_script, &k_cell_add_script}) {
    used.merge(commands_in(script->text));
  }
  EXPECT_TRUE(used.contains("hsetnx") && used.contains("zrevrange") && used.contains("publish"));
  std::set<std::string> named;
  for (const std::string_view each : needed_commands())
    named.insert(std::string(each.substr(0, each.find('|'))));
  EXPECT_TRUE(std::includes(named.begin(), named.end(), used.begin(), used.end()))
      << testing::PrintToString(used);
  const std::set<std::string> tried = commands_in(k_probe_script.text);
  EXPECT_TRUE(std::includes(tried.begin(), tried.end(), used.begin(), used.end()))
      << testing::PrintToString(tried);
}

// An ACL file's line from the command that the operator is shown.
std::string user_line(const std::string& acl = store::redis::acl_line()) {
  std::string line = acl;
  line.replace(0, std::string("ACL SETUSER").size(), "user");
  return std::regex_replace(line, std::regex("PASSWORD"), "secret");
}

constexpr const char* kUser = "holdfast:secret@";

// Every verb of a client, of every kind; what failed first.
std::string first_failure(const std::string& url, const std::string& prefix = "") {
  const auto client = connect(url);
  const auto other = connect(url);
  if (!client || !other) return "connect: " + (client ? other : client).error().text();
  const auto name = [&](const char* what) { return prefix + what; };

  auto hold = client->mutex(name("mutex")).acquire({.wait = 5s, .lease = 2s});
  if (!hold) return "acquire: " + hold.error().text();
  if (auto done = hold->verify(); !done) return "verify: " + done.error().text();
  auto waiting = other->mutex(name("mutex")).async_acquire({.wait = 20s, .lease = 2s});
  if (!eventually([&] { return client->inspect(name("*"))->at(0).line.size() == 1; }))
    return "no waiter";
  if (auto done = hold->release(); !done) return "release: " + done.error().text();
  auto next = std::move(waiting).get();
  if (!next) return "hand-over: " + next.error().text();
  if (auto done = client->force_release(name("mutex"), {.fence = next->fence(), .now = true});
      !done) {
    return "force: " + done.error().text();
  }

  auto writer = client->shared_mutex(name("shared")).acquire({.wait = 5s});
  if (!writer) return "writer: " + writer.error().text();
  auto reader = client->shared_mutex(name("shared")).downgrade(*writer);
  if (!reader) return "downgrade: " + reader.error().text();
  if (auto done = other->shared_mutex(name("shared")).acquire_shared({.wait = 5s}); !done) {
    return "reader: " + done.error().text();
  }

  const Semaphore semaphore = client->semaphore(name("semaphore"), {.permits = 3});
  if (auto done = semaphore.acquire(1, {.wait = 5s}); !done)
    return "permit: " + done.error().text();
  if (auto done = semaphore.set_size(5); !done) return "size: " + done.error().text();
  if (auto done = client->versioned(name("value")).read(); !done)
    return "value: " + done.error().text();
  if (auto done = client->latch(name("latch")).set_count(1); !done)
    return "latch: " + done.error().text();
  // A waiter that gives up, an upgrade, and cells that are changed and waited for.
  auto kept = client->mutex(name("kept")).acquire({.wait = 5s});
  if (!kept) return "kept: " + kept.error().text();
  const auto gave_up = other->mutex(name("kept")).acquire({.wait = 100ms});
  if (gave_up || gave_up.error() != Errc::timed_out) return "withdraw";
  const SharedMutex upgraded = client->shared_mutex(name("upgraded"));
  auto upgradeable = upgraded.acquire_upgradeable({.wait = 5s});
  if (!upgradeable) return "upgradeable: " + upgradeable.error().text();
  if (auto done = upgraded.upgrade(*upgradeable); !done) return "upgrade: " + done.error().text();
  if (auto done = client->versioned(name("value")).write("x", 0); !done) {
    return "write: " + done.error().text();
  }
  if (auto done = client->latch(name("latch")).count_down(); !done) {
    return "count down: " + done.error().text();
  }
  if (auto done = other->latch(name("latch")).wait(); !done) return "wait: " + done.error().text();
  if (auto done = client->inspect(); !done) return "inspect: " + done.error().text();
  return "";
}

TEST(RedisLeastRights, AllVerbsWorkUnderTheLeast) {
  RedisServer server({.users = {"user default on nopass ~* &* +@all", user_line()}});
  EXPECT_EQ(first_failure(url_of(server, kUser)), "");
  EXPECT_EQ(server.must({"ACL", "LOG"}).items.size(), 0u) << "nothing was refused";

  const auto client = connect(url_of(server, kUser)).value();
  const auto findings = client.examine().value();
  for (const Finding& each : findings) EXPECT_NE(each.level, Level::problem) << each.text;
  EXPECT_THAT(found("server", url_of(server, kUser)).text, HasSubstr("not allowed to look"));
  EXPECT_EQ(found("rights", url_of(server, kUser)).text, "all that locks need");
}

// As docs/stores/redis.md shows it.
TEST(RedisLeastRights, KeysCanBeLimitedToNamesWithOneBeginning) {
  const std::string keys = "~orders/* ~{orders/* ~holdfast_*:{orders/* ~redisson_lock_*:{orders/*";
  const std::string channels =
      "&holdfast_wake:* &holdfast_changed:*:{orders/* &redisson_lock__channel:{orders/* "
      "&redisson_rwlock:{orders/*";
  std::string line = user_line();
  line.replace(line.find("~*"), 2, keys);
  line.replace(line.find("&holdfast_* &redisson_*"), 23, channels);
  RedisServer server({.users = {"user default on nopass ~* &* +@all", line}});
  EXPECT_EQ(first_failure(url_of(server, kUser), "orders/"), "");
  EXPECT_EQ(server.must({"ACL", "LOG"}).items.size(), 0u) << "nothing was refused";
  EXPECT_THAT(first_failure(url_of(server, kUser), "other/"), HasSubstr("permission"));
  EXPECT_EQ(found("keys", url_of(server, kUser)).level, Level::warning);
}

TEST(RedisLeastRights, EachMissingCommandIsNamed_F060) {
  RedisServer server({.users = {"user default on nopass ~* &* +@all", user_line()}});
  const std::string url = url_of(server, kUser);
  for (const std::string_view command : store::redis::needed_commands()) {
    const std::string word(command.substr(0, command.find('|')));
    if (word == "ping" || word == "select" || word == "subscribe" || word == "unsubscribe")
      continue;
    server.must({"ACL", "SETUSER", "holdfast", "-" + std::string(command)});
    const Finding it = found("rights", url);
    EXPECT_EQ(it.level, Level::problem) << command;
    EXPECT_THAT(lower(it.text), HasSubstr(word)) << command;
    const auto refused = connect(url).value().mutex("lock").acquire({.wait = 5s, .lease = 1s});
    EXPECT_THAT(refused ? "NOPERM" : refused.error().text(), HasSubstr("NOPERM")) << command;
    server.must({"ACL", "SETUSER", "holdfast", "+" + std::string(command)});
  }
}

// Some who run servers for others hide commands, and so does an operator's rename-command.
TEST(RedisLeastRights, ACommandThatTheServerDoesNotHaveIsNamed) {
  for (const std::string command : {"EVALSHA", "EVAL"}) {
    RedisServer server({.more = {"--rename-command", command, "HIDDEN"}});
    const Finding it = found("rights", url_of(server));
    EXPECT_EQ(it.level, Level::problem) << command;
    EXPECT_THAT(it.text, AllOf(HasSubstr(command + ": "), HasSubstr("unknown command")));
    const auto refused = connect(url_of(server)).value().mutex("lock").acquire();
    EXPECT_TRUE(fails_with(Errc::permission, refused)) << command;
    EXPECT_THAT(refused.error().text(), HasSubstr("unknown command"));
  }
}

TEST(RedisLeastRights, WithoutThatToListenWaitersAreServedLater) {
  RedisServer server({.users = {"user default on nopass ~* &* +@all", user_line()}});
  const std::string url = url_of(server, kUser);
  server.must({"ACL", "SETUSER", "holdfast", "-subscribe"});
  const Finding deaf = found("listening", url);
  EXPECT_EQ(deaf.level, Level::warning);
  EXPECT_THAT(deaf.text, HasSubstr("waiters are not woken"));
  EXPECT_THAT(deaf.text, testing::Not(HasSubstr("\\x")));

  const auto client = connect(url).value();
  const auto other = connect(url).value();
  auto hold = client.mutex("lock").acquire({.lease = 1s}).value();
  auto waiting = other.mutex("lock").async_acquire({.wait = 20s, .lease = 1s});
  EXPECT_TRUE(eventually([&] { return client.inspect("lock").value().at(0).line.size() == 1; }));
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(std::move(waiting).get());
}

TEST(RedisLeastRights, ChannelsThatAreNotAllowedAreNamed) {
  RedisServer server({.users = {"user default on nopass ~* &* +@all", user_line()}});
  server.must({"ACL", "SETUSER", "holdfast", "resetchannels"});
  const Finding it = found("channels", url_of(server, kUser));
  EXPECT_EQ(it.level, Level::warning) << it.text;
  EXPECT_THAT(it.text, AllOf(HasSubstr("holdfast_wake:"), HasSubstr("redisson_lock__channel:")));
}

TEST(RedisLeastRights, AWrongPasswordIsSaidAndNotShown_F060) {
  RedisServer server({.users = {"user default on nopass ~* &* +@all", user_line()}});
  const auto client = connect(url_of(server, "holdfast:hunter2@"));
  EXPECT_TRUE(fails_with(Errc::permission, client));
  EXPECT_THAT(client.error().text(), testing::Not(HasSubstr("hunter2")));

  RedisServer open;  // it has no passwords at all
  expect_refused(Errc::permission, url_of(open, ":hunter2@"), "does not take a password");
  expect_refused(Errc::invalid_argument, url_of(open) + "/99", "no database 99");
}

}  // namespace
}  // namespace holdfast::test
