#include "integration/zookeeper/curator_peer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::test {
namespace {

#ifdef HOLDFAST_CURATOR_PEER
constexpr const char* kClassPath = HOLDFAST_CURATOR_PEER;
constexpr const char* kMissing = "";
#else
constexpr const char* kClassPath = "";
constexpr const char* kMissing = HOLDFAST_CURATOR_PEER_MISSING;
#endif

Words command_line(const std::string& hosts, std::chrono::milliseconds session, const Words& java) {
  Words words{"java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
              "-XX:-UsePerfData"};
  words.insert(words.end(), java.begin(), java.end());
  words.insert(words.end(),
               {"-cp", kClassPath, "CuratorPeer", hosts, std::to_string(session.count())});
  return words;
}

}  // namespace

std::string CuratorPeer::missing() { return kMissing; }

CuratorPeer::CuratorPeer(const std::string& hosts, std::chrono::milliseconds session,
                         const Words& java)
    : process_(command_line(hosts, session, java)) {
  for (std::string said = answer("peer"); said != "ready"; said = answer("peer")) {
    if (said.empty()) throw std::runtime_error("no Java peer: " + missing());
  }
}

std::string CuratorPeer::answer(const std::string& who, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (said_[who].empty()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    const std::string line = process_.hear(std::max(left, std::chrono::milliseconds(0)));
    if (line.empty()) return "";
    const auto space = line.find(' ');
    said_[line.substr(0, space)].push_back(line.substr(space + 1));
  }
  std::string said = std::move(said_[who].front());
  said_[who].pop_front();
  return said;
}

std::int64_t CuratorPeer::session() { return std::stoll(ask("main", "session")); }

}  // namespace holdfast::test
