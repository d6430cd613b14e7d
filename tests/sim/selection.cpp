#include "selection.hpp"

#include <charconv>
#include <vector>

namespace holdfast::sim {

namespace {

constexpr std::string_view kNone = "none";

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end;
}

bool read(std::string_view text, OpName& op) {
  const auto parts = parts_of(text, '.');
  return parts.size() == 3 && read(parts[0], op.client) && read(parts[1], op.caller) &&
         read(parts[2], op.round);
}

template <class Item>
std::optional<std::set<Item>> read_set(std::string_view text) {
  std::set<Item> items;
  if (text == kNone) return items;
  for (const std::string_view part : parts_of(text, ',')) {
    Item item{};
    if (!read(part, item)) return std::nullopt;
    items.insert(item);
  }
  return items;
}

std::string item_text(std::uint64_t number) { return std::to_string(number); }
std::string item_text(const OpName& op) { return to_text(op); }

template <class Item>
std::string set_text(const std::set<Item>& items) {
  if (items.empty()) return std::string(kNone);
  std::string text;
  for (const Item& each : items) text += (text.empty() ? "" : ",") + item_text(each);
  return text;
}

}  // namespace

std::string to_text(const OpName& op) {
  return std::to_string(op.client) + "." + std::to_string(op.caller) + "." +
         std::to_string(op.round);
}

std::string to_text(const std::set<OpName>& ops) { return set_text(ops); }
std::string to_text(const std::set<std::uint64_t>& faults) { return set_text(faults); }
std::optional<std::set<OpName>> parse_ops(std::string_view text) { return read_set<OpName>(text); }
std::optional<std::set<std::uint64_t>> parse_faults(std::string_view text) {
  return read_set<std::uint64_t>(text);
}

}  // namespace holdfast::sim
