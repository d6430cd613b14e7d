#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/servers/server_process.hpp"
#include "support/temp_folder.hpp"
#include "support/tls/test_authority.hpp"

namespace holdfast::test {

// Only ends a test that has failed. Servers write down each new epoch and wait until the disk has it, and a disk that
// others are busy with may keep them waiting for half a minute.
inline constexpr std::chrono::minutes kServerSoon{2};

struct ZookeeperTls {
  Papers papers{};
  std::string authority{};          // of its clients' certificates
  bool wants_certificates = false;  // of its clients
};

struct ZookeeperOptions {
  // The step by which sessions expire, and the least pause between two pings of its kind.
  std::chrono::milliseconds tick{200};
  // What clients may ask for. No less than two ticks, unless a server is to be odd.
  std::chrono::milliseconds min_session = 2 * tick;
  std::chrono::milliseconds max_session = std::chrono::minutes(5);
  // How often containers that have become empty are removed.
  std::chrono::milliseconds container_check = std::chrono::minutes(1);
  // Else it tells its log to the operating system only, which is enough for one that is killed.
  bool syncs_to_disk = false;
  std::optional<ZookeeperTls> tls{};  // on a port beside
  // More lines of its file: "extendedTypesEnabled=true".
  Words settings{};
  // More words for java, which win over ours: "-Xmx1g".
  Words java{};
  // "NAME=value" beside ours: a clock shim's.
  Words environment{};
};

// A ZooKeeper server of a test's own, in a folder of its own, on free ports. It is up in a third of a second;
// with options that suit it, tests may share one.
//
// Guarantees   It is gone with this object, and also with the thread that started it.
// On error     Throws, with the end of the server's log: a test cannot go on without its server.
// Threads      One at a time.
class ZookeeperServer {
 public:
  explicit ZookeeperServer(ZookeeperOptions options = {});  // it serves when this returns
  ZookeeperServer(const ZookeeperServer&) = delete;
  ZookeeperServer& operator=(const ZookeeperServer&) = delete;

  // One for all tests of this program that leave it whole, with tests kept apart by new_base(). It is started
  // when somebody first asks for it, and again if somebody has killed it.
  static ZookeeperServer& shared();
  std::string new_base();  // a path that nobody has used on this server: "/base7"

  std::uint16_t port() const { return port_.number(); }
  std::uint16_t tls_port() const { return tls_port_.number(); }
  std::string host() const { return port_.host(); }
  const ZookeeperOptions& options() const { return options_; }

  bool running() const { return process_.running(); }
  void kill() { process_.kill(); }  // -9; it is gone when this returns
  void restart();                   // on the same ports, with what it kept
  void restart_empty();
  void pause() const { process_.pause(); }
  void resume() const { process_.resume(); }

  // The answer to a word of four letters: "srvr", "cons", "wchs", "mntr", "dump". Empty if nobody answers.
  std::string word(const std::string&,
                   std::chrono::milliseconds patience = std::chrono::seconds(2)) const;
  // "standalone", "leader" or "follower"; empty while it serves nobody.
  std::string mode(std::chrono::milliseconds patience = std::chrono::seconds(2)) const;
  // One of mntr's numbers: "zk_watch_count". -1 if it does not tell.
  std::int64_t number(const std::string& key) const;

  std::string log_path() const { return folder_ / "log"; }
  std::string end_of_log() const;

 private:
  friend class ZookeeperEnsemble;
  // One of several, not started.
  ZookeeperServer(int id, ZookeeperOptions options);

  void start();  // without waiting
  void wait_until_it_listens() const;
  void wait_until_it_serves() const;
  bool listens_for_tls() const;
  template <class Condition>
  void wait_until(const Condition&, const char* what) const;
  void write_settings() const;
  Words command_line() const;

  const int id_;  // 0: alone
  const ZookeeperOptions options_;
  const TempFolder folder_;
  const KeptPort port_;
  const KeptPort tls_port_;
  int bases_ = 0;
  ServerProcess process_;
};

}  // namespace holdfast::test
