#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/store/replies.hpp"
#include "integration/redis/edit.hpp"
#include "rules/lock_entry.hpp"
#include "store/redis/question.hpp"
#include "store/redis/resp.hpp"
#include "support/servers/redis_server.hpp"

namespace holdfast::test {

// Runs the scripts on a live server whose time the test turns, and hears what they tell. The clock that they
// read is a key, far in the future, so that nothing expires by itself; what Redis would have let go by that
// clock is deleted when the clock is turned.
class ScriptBench {
 public:
  explicit ScriptBench(RedisServer& server, std::vector<Edit> edits = {});

  store::redis::Reply run(const store::redis::Question&);

  TimePoint now() const { return TimePoint(std::chrono::microseconds(now_us_)); }
  void pass(Duration);
  std::vector<rules::Told> told();  // since the last time
  store::redis::Reply command(const store::redis::Words& words) { return server_.must(words); }

 private:
  std::string text_of(const store::redis::Script&) const;
  void show_time();

  RedisServer& server_;
  std::vector<Edit> edits_;
  std::int64_t now_us_;
  std::vector<std::pair<std::string, std::string>> loaded_;  // by name: sha1
};

}  // namespace holdfast::test
