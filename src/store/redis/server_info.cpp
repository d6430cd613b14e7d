#include "store/redis/server_info.hpp"

#include "rules/words.hpp"

namespace holdfast::store::redis {

void ServerInfo::add_info(const Reply& reply) {
  if (!reply.is(Reply::Type::text)) return;
  std::string_view rest = reply.text;
  while (!rest.empty()) {
    std::string_view line = rules::next_word(rest, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (line.starts_with('#') || colon == std::string_view::npos) continue;
    values_.insert_or_assign(std::string(line.substr(0, colon)),
                             std::string(line.substr(colon + 1)));
  }
}

void ServerInfo::add_config(const Reply& reply) {
  if (reply.items.size() != 2) return;
  values_.insert_or_assign("config." + reply.items[0].text, reply.items[1].text);
}

std::string_view ServerInfo::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() ? std::string_view(found->second) : std::string_view();
}

std::optional<std::uint64_t> ServerInfo::number(std::string_view name) const {
  return rules::number_in<std::uint64_t>(text(name));
}

}  // namespace holdfast::store::redis
