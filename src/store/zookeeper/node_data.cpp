#include "store/zookeeper/node_data.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rules/record_text.hpp"
#include "rules/words.hpp"
#include "store/zookeeper/layout.hpp"

namespace holdfast::store::zookeeper {
namespace {

using rules::next_word;
using rules::number_in;
using std::chrono::milliseconds;

constexpr std::string_view kOurs = "holdfast";
constexpr std::string_view kRevoke = "__REVOKE__";
constexpr auto kLastForm = static_cast<std::uint8_t>(Shape::Form::permits);
constexpr std::size_t kLongestAddress = 255;

// As to_string() writes it.
std::optional<OwnerId> owner_in(std::string_view text) {
  const std::string_view client = next_word(text, ':');
  if (client.size() != 32) return std::nullopt;
  const auto high = number_in<std::uint64_t>(client.substr(0, 16), 16);
  const auto low = number_in<std::uint64_t>(client.substr(16), 16);
  const auto claim = number_in<std::uint64_t>(text);
  if (!high || !low || !claim) return std::nullopt;
  return OwnerId{{*high, *low}, *claim};
}

std::string_view without_revocation(std::string_view text) {
  if (!is_revoked(text)) return text;
  text.remove_prefix(std::min(kRevoke.size() + 1, text.size()));
  return text;
}

bool is_shown(char c) { return c >= 0x20 && c < 0x7F; }

}  // namespace

std::string text_of(const NodeData& data) {
  std::string text(kOurs);
  const auto add = [&text](const std::string& word) { text += ' ' + word; };
  add(to_string(data.owner));
  add(std::to_string(static_cast<unsigned>(data.shape.form)));
  add(std::to_string(data.shape.take));
  add(std::to_string(data.shape.of));
  add(std::to_string(std::chrono::ceil<milliseconds>(data.lease).count()));
  add(std::to_string(data.fence));
  return text + '\n' + rules::text_of(data.record);
}

std::optional<NodeData> node_data_in(std::string_view text) {
  text = without_revocation(text);
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view head = text.substr(0, end);
  text.remove_prefix(end + 1);
  if (next_word(head) != kOurs) return std::nullopt;
  const auto owner = owner_in(next_word(head));
  const auto form = number_in<std::uint8_t>(next_word(head));
  const auto take = number_in<std::uint32_t>(next_word(head));
  const auto of = number_in<std::uint32_t>(next_word(head));
  const auto lease = number_in<std::uint32_t>(next_word(head));
  const auto fence = number_in<std::uint64_t>(next_word(head));
  auto record = rules::record_in(text);
  if (!owner || !form || *form > kLastForm || !take || !of || !lease || !fence || !head.empty()) {
    return std::nullopt;
  }
  if (!record) return std::nullopt;
  NodeData data;
  data.owner = *owner;
  data.shape = {static_cast<Shape::Form>(*form), *take, *of};
  data.lease = milliseconds(*lease);
  data.fence = *fence;
  data.record = *std::move(record);
  data.record.owner = to_string(*owner);
  return data;
}

bool is_revoked(std::string_view text) {
  return text.starts_with(kRevoke) &&
         (text.size() == kRevoke.size() || text[kRevoke.size()] == '\n');
}

// Curator's holders compare the whole of it.
std::string revoked(std::string_view text) {
  std::string all(kRevoke);
  if (node_data_in(text)) {
    all += '\n';
    all += without_revocation(text);
  }
  return all;
}

std::uint64_t fence_of(const std::optional<NodeData>& data, const Stat& stat,
                       const Fences& fences) {
  const std::uint64_t told = data ? data->fence : 0;
  return told != 0 ? told : fences.of(stat.czxid).value_or(0);
}

HolderRecord record_of(std::string_view name, std::string_view text) {
  if (auto data = node_data_in(text)) return std::move(data->record);
  HolderRecord record;
  record.owner = parse_node(name).uuid;
  if (record.owner.empty()) record.owner = name;
  const bool address = text.size() <= kLongestAddress && !is_revoked(text) &&
                       std::all_of(text.begin(), text.end(), is_shown);
  if (address) record.host = text;
  return record;
}

}  // namespace holdfast::store::zookeeper
