#include "integration/redis/script_bench.hpp"

#include <stdexcept>

#include "store/redis/keys.hpp"
#include "store/redis/wake_message.hpp"

namespace holdfast::test {

using store::redis::Question;
using store::redis::Reply;
using store::redis::Script;
using store::redis::Words;

namespace {

constexpr std::int64_t kFarAway = 3'000'000'000'000'000;  // the year 2065

// Redis lets a key go in the millisecond after its last.
constexpr const char* kLetExpire = R"lua(
  for _, key in ipairs(redis.call('KEYS', '*')) do
    local at = redis.call('PEXPIRETIME', key)
    if at >= 0 and at < tonumber(ARGV[1]) then redis.call('DEL', key) end
  end
)lua";

const std::vector<Edit>& test_doubles() {
  static const std::vector<Edit> edits{
      {"redis.call('TIME')", "redis.call('LRANGE', 'test:time', 0, 1)"},
      {"redis.call('PTTL', key)", R"lua((function()
         local at, time = redis.call('PEXPIRETIME', key), redis.call('LRANGE', 'test:time', 0, 1)
         return at < 0 and at or math.max(0, at - math.floor((time[1] * 1000000 + time[2]) / 1000))
       end)())lua"},
      {"redis.pcall(command, channel, message)",
       "redis.call('RPUSH', 'test:told', channel, message)"},
  };
  return edits;
}

}  // namespace

ScriptBench::ScriptBench(RedisServer& server, std::vector<Edit> edits)
    : server_(server), edits_(std::move(edits)), now_us_(kFarAway) {
  server_.must({"FLUSHALL"});
  show_time();
}

std::string ScriptBench::text_of(const Script& script) const {
  for (const Edit& edit : test_doubles()) {
    if (script.text.find(edit.what) == std::string_view::npos) {
      throw std::logic_error("the scripts do not say any more: " + edit.what);
    }
  }
  return edited(edited(std::string(script.text), test_doubles()), edits_);
}

Reply ScriptBench::run(const Question& question) {
  const std::string name(question.script->name);
  auto known = loaded_.begin();
  while (known != loaded_.end() && known->first != name) ++known;
  if (known == loaded_.end()) {
    const std::string sha1 = server_.must({"SCRIPT", "LOAD", text_of(*question.script)}).text;
    known = loaded_.insert(loaded_.end(), {name, sha1});
  }
  const Script script{question.script->name, known->second, {}};
  const Question mine{&script, question.keys, question.arguments};
  return server_.command(words_of(mine, store::redis::ScriptAs::sha1));
}

void ScriptBench::pass(Duration time) {
  now_us_ += std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  show_time();
  server_.must({"EVAL", kLetExpire, "0", std::to_string(now_us_ / 1000)});
}

void ScriptBench::show_time() {
  server_.must({"DEL", "test:time"});
  server_.must({"RPUSH", "test:time", std::to_string(now_us_ / 1'000'000),
                std::to_string(now_us_ % 1'000'000)});
}

std::vector<rules::Told> ScriptBench::told() {
  constexpr std::string_view kWake = "holdfast_wake:";
  std::vector<rules::Told> told;
  const Reply list = server_.must({"LRANGE", "test:told", "0", "-1"});
  server_.must({"DEL", "test:told"});
  for (std::size_t i = 0; i + 1 < list.items.size(); i += 2) {
    const std::string& channel = list.items[i].text;
    if (!channel.starts_with(kWake)) continue;
    const auto message = store::redis::wake_in(list.items[i + 1].text);
    if (!message) throw std::logic_error("a wake cannot be read: " + list.items[i + 1].text);
    const auto owner =
        store::redis::owner_in(channel.substr(kWake.size()) + ":" + std::to_string(message->claim));
    if (!owner) throw std::logic_error("a wake is for nobody: " + channel);
    told.push_back({*owner, message->wake});
  }
  return told;
}

}  // namespace holdfast::test
