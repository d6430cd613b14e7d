#include "store/zookeeper/cell_text.hpp"

#include <chrono>

#include "rules/words.hpp"

namespace holdfast::store::zookeeper {
namespace {

using rules::DoneOp;
using rules::next_word;
using rules::number_in;
using std::chrono::milliseconds;

constexpr std::string_view kOurs = "holdfast";
// The server's clock may be set, and another server's tell another time.
constexpr Duration kClocksDiffer = std::chrono::hours(1);

constexpr TimePoint time_of(std::int64_t ms) { return TimePoint(milliseconds(ms)); }

constexpr std::int64_t ms_of(TimePoint time) {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
}

std::optional<ClientId> client_in(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = number_in<std::uint64_t>(text.substr(0, 16), 16);
  const auto low = number_in<std::uint64_t>(text.substr(16), 16);
  if (!high || !low) return std::nullopt;
  return ClientId{*high, *low};
}

std::string text_of_op(const ClientId& client, const DoneOp& op) {
  std::string text = to_string(client);
  text += ' ' + std::to_string(op.number);
  text += op.done ? " 1 " : " 0 ";
  text += std::to_string(op.version);
  text += ' ' + std::to_string(op.sum);
  text += ' ' + std::to_string(ms_of(op.at));
  return text + '\n';
}

bool read_op(std::string_view line, StoredCell& cell, std::int64_t changed_ms) {
  const auto client = client_in(next_word(line));
  const auto number = number_in<std::uint64_t>(next_word(line));
  const auto done = number_in<std::uint32_t>(next_word(line));
  const auto version = number_in<std::uint64_t>(next_word(line));
  const auto sum = number_in<std::int64_t>(next_word(line));
  const auto at = number_in<std::int64_t>(next_word(line));
  if (!client || !number || !done || *done > 1 || !version || !sum || !at || !line.empty()) {
    return false;
  }
  constexpr std::int64_t kLatest = ms_of(kNever);
  if (*at < 0 || *at > kLatest || cell.ops.contains(*client)) return false;
  cell.ops[*client] = {*number, *done == 1, *version, *sum, time_of(*at == 0 ? changed_ms : *at)};
  return true;
}

}  // namespace

std::string text_of(const StoredCell& cell) {
  std::string text(kOurs);
  text += ' ' + std::to_string(cell.state.version);
  text += ' ' + std::to_string(cell.state.value.size());
  text += ' ' + std::to_string(cell.ops.size()) + '\n';
  text += cell.state.value;
  for (const auto& [client, op] : cell.ops) text += text_of_op(client, op);
  return text;
}

std::optional<StoredCell> stored_cell_in(std::string_view text, std::int64_t changed_ms) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view head = text.substr(0, end);
  text.remove_prefix(end + 1);
  if (next_word(head) != kOurs) return std::nullopt;
  const auto version = number_in<std::uint64_t>(next_word(head));
  const auto length = number_in<std::uint32_t>(next_word(head));
  const auto ops = number_in<std::uint32_t>(next_word(head));
  if (!version || !length || !ops || !head.empty() || *length > text.size()) return std::nullopt;
  StoredCell cell;
  cell.state = {std::string(text.substr(0, *length)), *version};
  text.remove_prefix(*length);
  while (!text.empty()) {
    const std::size_t line = text.find('\n');
    if (line == std::string_view::npos) return std::nullopt;
    if (!read_op(text.substr(0, line), cell, changed_ms)) return std::nullopt;
    text.remove_prefix(line + 1);
  }
  if (cell.ops.size() != *ops) return std::nullopt;
  return cell;
}

void forget_old(StoredCell& cell, std::int64_t changed_ms) {
  std::erase_if(cell.ops, [&](const auto& each) {
    return rules::may_be_forgotten(each.second, time_of(changed_ms) - kClocksDiffer);
  });
}

}  // namespace holdfast::store::zookeeper
