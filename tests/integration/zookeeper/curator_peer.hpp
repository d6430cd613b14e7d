#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "support/child_process.hpp"
#include "support/soon.hpp"

namespace holdfast::test {

// A Java process with Curator's locks: peer/CuratorPeer.java, which says what it can be told.
//
//   CuratorPeer java(server.host());
//   EXPECT_EQ(java.ask("anna", "acquire mutex /base/lock 0"), "held");
//   java.tell("bert", "acquire mutex /base/lock 30000");       // waits
//   …
//   EXPECT_EQ(java.answer("bert"), "held");
//
// Lifetime     Killed with this object: its session is left behind, as processes do.
// On error     Throws: a test cannot go on without its peer.
// Threads      One at a time.
class CuratorPeer {
 public:
  // There is none if the build found no javac or no Curator; what was missing.
  static std::string missing();

  // `java`: more words for it, which win over ours.
  explicit CuratorPeer(const std::string& hosts,
                       std::chrono::milliseconds session = std::chrono::seconds(10),
                       const Words& java = {});

  // Each `who` is a thread of its own there.
  void tell(const std::string& who, const std::string& what) { process_.tell(who + " " + what); }
  // The next thing that it says; "" if it is silent for so long.
  std::string answer(const std::string& who, std::chrono::milliseconds patience = kSoon);
  std::string ask(const std::string& who, const std::string& what) {
    tell(who, what);
    return answer(who);
  }

  std::int64_t session();
  ChildProcess& process() { return process_; }

 private:
  ChildProcess process_;
  std::map<std::string, std::deque<std::string>> said_;
};

}  // namespace holdfast::test
