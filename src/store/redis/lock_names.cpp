#include "store/redis/lock_names.hpp"

#include <utility>

#include "store/redis/failure.hpp"
#include "store/redis/keys.hpp"

namespace holdfast::store::redis {

Words ask_names(std::string_view cursor) {
  return {"SCAN", std::string(cursor), "MATCH", "holdfast_lock:*", "COUNT", "1000"};
}

std::variant<NoAnswer, SomeNames> names_in(const Reply& reply) {
  if (reply.items.size() != 2 || !reply.items[0].is(Reply::Type::text) ||
      !reply.items[1].is(Reply::Type::array)) {
    return no_answer(reply);
  }
  SomeNames some{reply.items[0].text, {}};
  for (const Reply& key : reply.items[1].items) {
    if (auto name = name_in(key.text)) some.names.push_back(*std::move(name));
  }
  return some;
}

std::optional<LockName> only_name(std::string_view pattern) {
  std::string bytes;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*' || pattern[i] == '?') return std::nullopt;
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    bytes += pattern[i];
  }
  auto name = LockName::checked(bytes);
  if (!name) return std::nullopt;
  return *std::move(name);
}

}  // namespace holdfast::store::redis
