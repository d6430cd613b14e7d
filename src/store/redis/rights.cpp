#include "store/redis/rights.hpp"

#include <set>

#include "holdfast/store/lock_name.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/reply_items.hpp"

namespace holdfast::store::redis {
namespace {

using Level = Finding::Level;

constexpr std::string_view kCommands[] = {
    // sent by themselves
    "ping", "select", "evalsha", "eval", "scan", "subscribe", "unsubscribe",
    // in the scripts, and hmget also by itself
    "bitpos", "del", "exists", "get", "hdel", "hexists", "hget", "hgetall", "hincrby", "hkeys",
    "hlen", "hmget", "hset", "hsetnx", "lindex", "llen", "lpos", "lrange", "lrem", "pexpireat",
    "pttl", "publish", "pubsub|numsub", "rpush", "set", "setbit", "time", "type", "zadd", "zcard",
    "zrange", "zrangebyscore", "zrank", "zrem", "zrevrange", "zscore"};

// The texts of an array without doubles, for people.
std::string list_in(ReplyItems items) {
  std::set<std::string> all;
  while (items.more()) all.insert(printable(items.text()));
  std::string text;
  for (const std::string& each : all) text += (text.empty() ? "" : ", ") + each;
  return text;
}

}  // namespace

std::span<const std::string_view> needed_commands() { return kCommands; }

std::string acl_line() {
  std::string line =
      "ACL SETUSER holdfast on >PASSWORD resetkeys ~* resetchannels &holdfast_* &redisson_* -@all";
  for (const std::string_view command : kCommands) line += " +" + std::string(command);
  return line;
}

Question ask_rights(const LockName& name, const Settings& settings) {
  Question question{.script = &k_probe_script, .arguments = first_arguments(name, settings)};
  append(question.arguments,
         {name.bytes(), lock_key(name), wake_channel({}), redisson_channel(Kind::mutex, name)});
  return question;
}

std::vector<Finding> rights_in(const Reply& reply, std::string_view command) {
  if (reply.is(Reply::Type::error)) {
    return {{Level::problem, "rights", std::string(command) + ": " + failure_of(reply.text).text}};
  }
  ReplyItems items(reply);
  const std::string commands = list_in(items.array());
  const std::string keys = list_in(items.array());
  const std::string channels = list_in(items.array());
  if (!items.ok_and_done()) return {{Level::problem, "rights", no_answer(reply).text}};
  std::vector<Finding> findings;
  if (!commands.empty()) {
    findings.push_back(
        {Level::problem, "rights", "this user may not " + commands + "; see least rights"});
  }
  if (!keys.empty()) {
    findings.push_back(
        {Level::warning, "keys",
         "this user may not use " + keys + ", so only locks of other names, if any"});
  }
  if (!channels.empty()) {
    findings.push_back(
        {Level::warning, "channels",
         "this user may not tell " + channels + ": waiters find out by themselves, later"});
  }
  if (findings.empty()) findings.push_back({Level::fact, "rights", "all that locks need"});
  return findings;
}

}  // namespace holdfast::store::redis
