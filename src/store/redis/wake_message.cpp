#include "store/redis/wake_message.hpp"

#include <chrono>

#include "rules/words.hpp"
#include "store/redis/time_text.hpp"

namespace holdfast::store::redis {
namespace {

// "0,3,4", or "-" for none.
std::optional<std::vector<std::uint32_t>> slots_in(std::string_view text) {
  std::vector<std::uint32_t> slots;
  if (text == "-") return slots;
  do {
    const auto slot = rules::number_in<std::uint32_t>(rules::next_word(text, ','));
    if (!slot) return std::nullopt;
    slots.push_back(*slot);
  } while (!text.empty());
  return slots;
}

}  // namespace

std::optional<WakeMessage> wake_in(std::string_view message) {
  WakeMessage told;
  const std::string_view what = rules::next_word(message);
  const auto claim = rules::number_in<std::uint64_t>(rules::next_word(message));
  const auto number = rules::number_in<std::uint64_t>(rules::next_word(message));
  if (!claim || !number) return std::nullopt;
  told.claim = *claim;
  if (what == "offer") {
    const auto spare = rules::number_in<std::uint64_t>(rules::next_word(message));
    auto slots = slots_in(rules::next_word(message));
    if (!spare || !slots) return std::nullopt;
    told.wake.offer = Wake::Offer{*number, *spare, *std::move(slots)};
  } else if (what == "look") {
    told.wake.look_after = from_us(*number);
  } else {
    return std::nullopt;
  }
  if (message.empty()) return std::nullopt;
  told.lock = message;
  return told;
}

}  // namespace holdfast::store::redis
