#include "rules/record_text.hpp"

#include "rules/words.hpp"

namespace holdfast::rules {

std::string text_of(const HolderRecord& record) {
  std::string text = std::to_string(record.pid);
  text += ' ' + std::to_string(record.since.time_since_epoch().count());
  text += ' ' + std::to_string(record.host.size());
  text += ' ' + std::to_string(record.program.size()) + '\n';
  return text + record.host + record.program + record.reason;
}

std::optional<HolderRecord> record_in(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view head = text.substr(0, end);
  text.remove_prefix(end + 1);
  const auto pid = number_in<std::int64_t>(next_word(head));
  const auto since = number_in<std::int64_t>(next_word(head));
  const auto host = number_in<std::uint32_t>(next_word(head));
  const auto program = number_in<std::uint32_t>(next_word(head));
  if (!pid || !since || !host || !program || !head.empty()) return std::nullopt;
  if (std::uint64_t{*host} + *program > text.size()) return std::nullopt;
  HolderRecord record;
  record.pid = *pid;
  record.since = WallTime(std::chrono::microseconds(*since));
  record.host = text.substr(0, *host);
  record.program = text.substr(*host, *program);
  record.reason = text.substr(*host + *program);
  return record;
}

}  // namespace holdfast::rules
