#include "store/redis/question.hpp"

#include <iterator>
#include <string>
#include <utility>

#include "store/redis/keys.hpp"

namespace holdfast::store::redis {

bool shared_with_redisson(const LockName& name, const Settings& settings) {
  // The doctor's lock is nobody else's, and its fence counter need not stay for good.
  if (!settings.interop || name.bytes().starts_with("holdfast-doctor/")) return false;
  return !settings.cluster || slot_of(redisson_channel(Kind::mutex, name)) == slot_of(name.bytes());
}

Words first_arguments(const LockName& name, const Settings& settings) {
  const auto idle = std::chrono::ceil<std::chrono::milliseconds>(settings.fence_idle);
  return {shared_with_redisson(name, settings) ? "1" : "0",
          settings.sharded_channels ? "SPUBLISH" : "PUBLISH",
          settings.silence_is_absence ? "1" : "0", std::to_string(idle.count())};
}

Question about(const LockName& name, const Script& script, const Settings& settings) {
  return {&script, {name.bytes(), lock_key(name)}, first_arguments(name, settings)};
}

void append(Words& words, Words more) {
  words.insert(words.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

Words words_of(const Question& question, ScriptAs as) {
  Words words;
  words.reserve(3 + question.keys.size() + question.arguments.size());
  if (as == ScriptAs::sha1) {
    words.emplace_back("EVALSHA");
    words.emplace_back(question.script->sha1);
  } else {
    words.emplace_back("EVAL");
    words.emplace_back(question.script->text);
  }
  words.push_back(std::to_string(question.keys.size()));
  words.insert(words.end(), question.keys.begin(), question.keys.end());
  words.insert(words.end(), question.arguments.begin(), question.arguments.end());
  return words;
}

}  // namespace holdfast::store::redis
