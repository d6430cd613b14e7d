// What a Proxy does to the bytes of one direction.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace holdfast::test {

enum class Way { to_server, to_client };
inline constexpr Way kBothWays[] = {Way::to_server, Way::to_client};
inline constexpr Way opposite(Way way) {
  return way == Way::to_server ? Way::to_client : Way::to_server;
}

// All off by itself: bytes pass as they come.
struct Rules {
  std::chrono::milliseconds delay{0};   // of everything
  std::chrono::milliseconds jitter{0};  // up to so much more, drawn per read; the order stays
  bool drop = false;                    // bytes and closings vanish, as behind a firewall
  bool hold = false;                    // they are kept, and pass once this is off again
  std::size_t chunk = 0;                // no write is longer; 0: as long as it comes
  std::chrono::milliseconds pause{0};   // between two writes
  // Resets the connection once so many bytes of it have passed; 0: with the first that come.
  std::optional<std::uint64_t> break_after{};
  // Changes the bytes of one read. Runs on the proxy's thread and must not call the proxy.
  std::function<void(std::string& bytes)> rewrite{};
};

// A rewrite that replaces the n-th occurrence (the first is 1) among all connections that have the
// rule. What a sender writes in two parts may come in two reads; an occurrence across them is not
// seen.
std::function<void(std::string&)> replace_occurrence(int n, std::string from, std::string to);

}  // namespace holdfast::test
