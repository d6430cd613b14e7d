// What the fault tests of the Redis store share: a server of their own, a network to it that they break, and a
// look at the server from the side.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "store/redis/script.hpp"
#include "support/net/proxy.hpp"
#include "support/outcome.hpp"
#include "support/servers/redis_server.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;

class RedisTest : public testing::Test {
 protected:
  explicit RedisTest(RedisOptions options = {}) : server_(std::move(options)) { load_scripts(); }

  // So that the first answer to a question is the answer and not NOSCRIPT.
  void load_scripts() {
    using namespace store::redis;
    for (const Script* each :
         {&k_try_grant_script, &k_renew_script, &k_release_script, &k_withdraw_script}) {
      server_.must({"SCRIPT", "LOAD", std::string(each->text)});
    }
  }

  // Past the proxy.
  std::string direct_url() const { return "redis://127.0.0.1:" + std::to_string(server_.port()); }
  std::string url() const { return "redis://" + proxy_.address().text(); }

  // One that notices silence soon.
  Client open(Duration answer_within = 200ms, Duration patience = 10s) const {
    return connect(url(), {.answer_within = answer_within, .patience = patience}).value();
  }
  Client open_direct() const { return connect(direct_url()).value(); }

  // What the server shows, once it can be asked.
  std::vector<LockInfo> look(std::string_view pattern = "*") {
    if (!operator_) operator_ = open_direct();
    auto locks = operator_->inspect(pattern);
    eventually([&] { return locks || (locks = operator_->inspect(pattern)).has_value(); });
    return locks.value();
  }
  // The fence of the holder; 0 if there is none.
  std::uint64_t fence_in_store(std::string_view name = "lock") {
    const auto locks = look(name);
    return locks.empty() || locks[0].holders.empty() ? 0 : locks[0].holders[0].fence.value();
  }
  bool is_empty() { return look().empty(); }
  bool comes_to_be_held() {
    return eventually([&] { return fence_in_store() != 0; });
  }
  bool comes_to_be_empty() {
    return eventually([&] { return is_empty(); });
  }
  bool comes_to_wait() {
    return eventually([&] {
      const auto locks = look("lock");
      return !locks.empty() && !locks[0].line.empty();
    });
  }

  RedisServer& server() { return server_; }
  Proxy& proxy() { return proxy_; }
  const Proxy& proxy() const { return proxy_; }

  // From now on, of all connections and those that come.
  void cut(Way way) { proxy_.set(way, {.drop = true}); }
  // A cut line is not mended: what was lost in the middle of a connection would be missed for ever.
  void mend() {
    proxy_.reset();
    for (const Way way : kBothWays) proxy_.set(way, {});
    proxy_.reset();
  }

 private:
  RedisServer server_;
  Proxy proxy_{Address::tcp(server_.port())};
  std::optional<Client> operator_;
};

inline bool is_lost(const Hold& hold) { return hold.lost().stop_requested(); }

inline bool comes_to_be_lost(const Hold& hold) {
  return eventually([&] { return is_lost(hold); });
}

}  // namespace holdfast::test
