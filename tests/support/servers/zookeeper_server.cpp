#include "support/servers/zookeeper_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/net/address.hpp"
#include "support/soon.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kJars = "/usr/share/java/";

// The library names what it needs, but not a place for its log, nor all that TLS takes.
std::string class_path() {
  std::string path;
  for (const char* jar : {"slf4j-simple", "zookeeper", "netty-codec", "netty-resolver",
                          "netty-transport-native-unix-common"}) {
    path.append(path.empty() ? "" : ":").append(kJars).append(jar).append(".jar");
  }
  return path;
}

std::string ms(std::chrono::milliseconds time) { return std::to_string(time.count()); }

// What follows `key` in the line that begins with it.
std::string value_of(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    line.erase(0, std::min(line.size(), line.find_first_not_of(" \t", key.size())));
    return line;
  }
  return "";
}

void copy_into(std::ofstream& file, const std::string& path) {
  file << std::ifstream(path).rdbuf();
}

}  // namespace

ZookeeperServer::ZookeeperServer(ZookeeperOptions options)
    : ZookeeperServer(0, std::move(options)) {
  restart();
}

ZookeeperServer::ZookeeperServer(int id, ZookeeperOptions options)
    : id_(id), options_(std::move(options)) {}

ZookeeperServer& ZookeeperServer::shared() {
  static std::unique_ptr<ZookeeperServer> it;
  if (!it) it = std::make_unique<ZookeeperServer>();
  if (!it->process_.running()) it->restart();
  return *it;
}

std::string ZookeeperServer::new_base() { return "/base" + std::to_string(++bases_); }

void ZookeeperServer::start() {
  write_settings();
  process_.start(command_line(), options_.environment, log_path());
}

void ZookeeperServer::write_settings() const {
  std::filesystem::create_directories(folder_ / "data");
  if (id_ != 0) std::ofstream(folder_ / "data/myid") << id_ << "\n";
  std::ofstream file(folder_ / "settings");
  file << "tickTime=" << ms(options_.tick) << "\nminSessionTimeout=" << ms(options_.min_session)
       << "\nmaxSessionTimeout=" << ms(options_.max_session) << "\ndataDir=" << folder_ / "data"
       << "\nclientPort=" << port() << "\nclientPortAddress=127.0.0.1"
       << "\nmaxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=*\n";
  if (const auto& tls = options_.tls) {
    const std::string papers = folder_ / "papers.pem";
    std::ofstream both(papers);
    copy_into(both, tls->papers.key);
    copy_into(both, tls->papers.certificate);
    file << "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory"
         << "\nsecureClientPort=" << tls_port() << "\nsecureClientPortAddress=127.0.0.1"
         << "\nssl.keyStore.location=" << papers << "\nssl.trustStore.location=" << tls->authority
         << "\nssl.clientAuth=" << (tls->wants_certificates ? "need" : "none") << "\n";
  }
  for (const std::string& line : options_.settings) file << line << "\n";
}

// As quick and small as it gets: one compiler, the simplest collector. (An archive of its classes would save
// another twentieth of a second.) Log files would be 64 MB each before anything is in them.
Words ZookeeperServer::command_line() const {
  Words words{"java",
              "-Xmx256m",
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1",
              "-XX:-UsePerfData",
              "-cp",
              class_path(),
              "-Dorg.slf4j.simpleLogger.showDateTime=true",
              "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
              "-Dorg.slf4j.simpleLogger.showShortLogName=true",
              "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=warn",
              "-Dzookeeper.preAllocSize=256",
              std::string("-Dzookeeper.forceSync=") + (options_.syncs_to_disk ? "yes" : "no"),
              "-Dzookeeper.fastleader.maxNotificationInterval=400",
              "-Dznode.container.checkIntervalMs=" + ms(options_.container_check)};
  words.insert(words.end(), options_.java.begin(), options_.java.end());
  words.insert(words.end(),
               {"org.apache.zookeeper.server.quorum.QuorumPeerMain", folder_ / "settings"});
  return words;
}

// A server that is asked while it begins may take the question and never answer it.
constexpr auto kShortly = 300ms;

template <class Condition>
void ZookeeperServer::wait_until(const Condition& condition, const char* what) const {
  const auto end = std::chrono::steady_clock::now() + kServerSoon;
  while (!condition()) {
    if (!process_.running() || std::chrono::steady_clock::now() > end) {
      throw std::runtime_error(std::string("a ZooKeeper server does not ") + what + ":\n" +
                               end_of_log());
    }
    std::this_thread::sleep_for(5ms);
  }
}

void ZookeeperServer::wait_until_it_listens() const {
  wait_until([this] { return word("ruok", kShortly) == "imok"; }, "listen");
}

void ZookeeperServer::wait_until_it_serves() const {
  wait_until([this] { return !mode(kShortly).empty(); }, "serve");
  if (options_.tls) wait_until([this] { return listens_for_tls(); }, "listen for TLS");
}

// It begins with the other port.
bool ZookeeperServer::listens_for_tls() const {
  const Address address = Address::tcp(tls_port());
  const transport::Fd socket = new_socket(address);
  return ::connect(socket.get(), address.place(), address.size()) == 0;
}

// One of several cannot serve before the others do.
void ZookeeperServer::restart() {
  kill();
  start();
  id_ == 0 ? wait_until_it_serves() : wait_until_it_listens();
}

void ZookeeperServer::restart_empty() {
  kill();
  std::filesystem::remove_all(folder_ / "data");
  restart();
}

std::string ZookeeperServer::word(const std::string& word,
                                  std::chrono::milliseconds patience) const {
  const Address address = Address::tcp(port());
  const transport::Fd socket = new_socket(address);
  if (::connect(socket.get(), address.place(), address.size()) != 0) return "";
  if (::send(socket.get(), word.data(), word.size(), MSG_NOSIGNAL) < 0) return "";
  const auto end = std::chrono::steady_clock::now() + patience;
  for (std::string answer;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd ready{.fd = socket.get(), .events = POLLIN, .revents = 0};
    if (left.count() < 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return "";
    char some[16 * 1024];
    const ssize_t size = ::recv(socket.get(), some, sizeof some, 0);
    if (size <= 0) return answer;
    answer.append(some, static_cast<std::size_t>(size));
  }
}

std::string ZookeeperServer::mode(std::chrono::milliseconds patience) const {
  return value_of(word("srvr", patience), "Mode:");
}

std::int64_t ZookeeperServer::number(const std::string& key) const {
  const std::string value = value_of(word("mntr"), key + "\t");
  return value.empty() ? -1 : std::stoll(value);
}

std::string ZookeeperServer::end_of_log() const {
  constexpr std::size_t kLines = 40;
  std::ifstream file(log_path());
  std::deque<std::string> last;
  for (std::string line; std::getline(file, line);) {
    last.push_back(std::move(line));
    if (last.size() > kLines) last.pop_front();
  }
  std::string text;
  for (const std::string& line : last) text += line + "\n";
  return text;
}

}  // namespace holdfast::test
