#include "store/redis/server_findings.hpp"

#include <chrono>
#include <cstdio>
#include <string>

#include "holdfast/store/lock_name.hpp"
#include "rules/words.hpp"

namespace holdfast::store::redis {
namespace {

using Level = Finding::Level;
using std::chrono::microseconds;

constexpr double kNearlyFull = 0.9;
constexpr microseconds kFarOff = std::chrono::seconds(1);
constexpr std::uint64_t kThisCentury = 4'102'444'800;  // a time that lets nothing overflow

std::string mib(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

std::string said(const ServerInfo& info, std::string_view name) {
  const std::string_view text = info.text(name);
  return text.empty() ? "unknown" : printable(text.substr(0, 100));
}

Finding server(const ServerInfo& info) {
  const std::string text = "Redis " + said(info, "redis_version") + ", " + said(info, "redis_mode");
  if (info.is("redis_mode", "sentinel")) {
    return {Level::problem, "server",
            text + ": it keeps no locks; name the server that it watches over"};
  }
  if (info.is("redis_mode", "cluster")) {
    return {Level::warning, "server",
            text +
                ": only locks whose slot lies on this node can be used; name a server that is no "
                "cluster"};
  }
  return {Level::fact, "server", text};
}

Finding replication(const ServerInfo& info) {
  if (info.is("role", "slave")) {
    return {Level::problem, "replication",
            "this is a replica of " + said(info, "master_host") + ":" + said(info, "master_port") +
                " and grants nothing; name its master"};
  }
  const auto replicas = info.number("connected_slaves");
  if (!replicas) return {Level::fact, "replication", "unknown"};
  if (*replicas == 0) return {Level::fact, "replication", "no replicas: nothing fails over"};
  std::string text =
      std::to_string(*replicas) + " replica(s), which hear of a grant after it was answered: a " +
      "fail-over can forget it, and then two hold the lock until the first renewal; check fences";
  if (info.is("config.min-replicas-to-write", "0")) {
    text += "; with min-replicas-to-write 1 a master that is cut off stops granting";
  }
  return {Level::warning, "replication", text};
}

// All our keys but fence counters, and cells, have an end; those are what volatile-* evicts.
Finding eviction(const ServerInfo& info) {
  const std::string policy = said(info, "maxmemory_policy");
  const bool limited = info.number("maxmemory").value_or(0) > 0;
  if (policy == "noeviction" || policy == "unknown") return {Level::fact, "eviction", policy};
  if (!limited) {
    return {
        Level::warning, "eviction",
        policy + ", without effect while there is no maxmemory; set maxmemory-policy noeviction"};
  }
  if (policy.starts_with("allkeys")) {
    return {Level::problem, "eviction",
            policy + ": held locks and fence counters can vanish; set maxmemory-policy noeviction"};
  }
  return {Level::warning, "eviction",
          policy +
              ": keys that expire can vanish, and held locks do expire; set maxmemory-policy "
              "noeviction"};
}

Finding memory(const ServerInfo& info) {
  const auto used = info.number("used_memory");
  const auto limit = info.number("maxmemory");
  if (!used || !limit) return {Level::fact, "memory", "unknown"};
  if (*limit == 0) return {Level::fact, "memory", mib(*used) + " used, no limit"};
  const std::string text = mib(*used) + " of " + mib(*limit) + " used";
  if (static_cast<double>(*used) < kNearlyFull * static_cast<double>(*limit))
    return {Level::fact, "memory", text};
  return {
      Level::warning, "memory",
      text + ": when it is full no lock can be taken; what is held can be renewed and released"};
}

Finding persistence(const ServerInfo& info) {
  const char* const subject = "persistence";
  const std::string forgets =
      "; holders are told at their next renewal, and fences go on by the clock";
  if (info.is("rdb_last_bgsave_status", "err") || info.is("aof_last_write_status", "err")) {
    return {Level::problem, subject,
            "the last write to the disk failed, and the server may refuse ours; see its log"};
  }
  if (info.is("aof_enabled", "1")) {
    const std::string sync = said(info, "config.appendfsync");
    if (sync == "always")
      return {Level::fact, subject, "append-only file, synced before each answer"};
    if (sync == "everysec") {
      return {
          Level::warning, subject,
          "append-only file, synced every second: a power loss can forget the last two seconds" +
              forgets};
    }
    const std::string how =
        sync == "no" ? "not synced" : "sync unknown (not allowed to look: CONFIG GET)";
    return {Level::warning, subject,
            "append-only file, " + how + ": a power loss can forget grants" + forgets};
  }
  if (!info.is("aof_enabled", "0")) return {Level::fact, subject, "unknown"};
  const std::string_view save = info.text("config.save");
  const std::string how = save.empty() ? "no append-only file"
                                       : "snapshots only (save " + said(info, "config.save") + ")";
  return {Level::warning, subject, how + ": a restart forgets locks" + forgets};
}

Finding keyspace(const ServerInfo& info, const Address& address) {
  const std::string database = "db" + std::to_string(address.database);
  const std::string_view there = info.text(database);
  return {Level::fact, "keyspace",
          database + ": " + (there.empty() ? "no keys" : printable(there.substr(0, 100)))};
}

bool is_local(const Address& address) {
  const std::string& host = address.server.endpoint.host;
  return !address.server.socket_path.empty() || host == "localhost" || host == "::1" ||
         host.starts_with("127.");
}

}  // namespace

std::vector<Finding> findings_about(const ServerInfo& info, const Address& address) {
  if (!info.knows_anything()) {
    return {{Level::fact, "server",
             "not allowed to look (INFO): version, memory, persistence, replication unknown"}};
  }
  return {server(info), replication(info), eviction(info),
          memory(info), persistence(info), keyspace(info, address)};
}

Finding connection_finding(const Address& address) {
  const std::string where = to_string(address.server);
  if (address.server.tls) {
    if (address.server.tls_settings.verify) return {Level::fact, "connection", where + ", TLS"};
    return {
        Level::warning, "connection",
        where +
            ", TLS with verify=off: whoever is in between can pass for the server; give its ca"};
  }
  if (is_local(address)) return {Level::fact, "connection", where + ", plain, on this machine"};
  return {Level::warning, "connection",
          where +
              ", plain text: whoever is in between can read the password and break locks; use "
              "rediss://"};
}

Finding user_finding(const Address& address, const Reply& who) {
  const std::string name = who.is(Reply::Type::text) ? printable(who.text) : "";
  if (address.password.empty() && (name.empty() || name == "default")) {
    return {Level::warning, "user",
            "no password is asked for: whoever reaches the server can take and break every lock"};
  }
  return {Level::fact, "user", name.empty() ? "not allowed to look (ACL WHOAMI)" : name};
}

Finding clock_finding(const Reply& time, WallTime asked, WallTime answered) {
  const char* const subject = "clock";
  if (time.items.size() != 2) return {Level::fact, subject, "not allowed to look (TIME)"};
  const auto seconds = rules::number_in<std::uint64_t>(time.items[0].text);
  const auto rest = rules::number_in<std::uint64_t>(time.items[1].text);
  if (!seconds || !rest || *seconds > kThisCentury || *rest > 999'999) {
    return {Level::problem, subject, "the server says a time that is none"};
  }
  const WallTime theirs{microseconds(*seconds * 1'000'000 + *rest)};
  const auto middle = asked + (answered - asked) / 2;
  const auto off = std::chrono::duration_cast<microseconds>(theirs - middle);
  char text[48];
  std::snprintf(text, sizeof text, "%+.3f s from ours", std::chrono::duration<double>(off).count());
  if (std::chrono::abs(off) <= kFarOff + (answered - asked)) return {Level::fact, subject, text};
  return {
      Level::warning, subject,
      std::string(text) +
          ": one of them is wrong. Leases do not compare them, but if the server's is corrected " +
          "they end early or late: let both follow NTP"};
}

}  // namespace holdfast::store::redis
