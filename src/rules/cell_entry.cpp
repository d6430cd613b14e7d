#include "rules/cell_entry.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "holdfast/options.hpp"

namespace holdfast::rules {

using namespace store;

namespace {

std::optional<Rejected> objection(const CellOp& op) {
  if (op.number == 0) return Rejected{Errc::invalid_argument, "an operation needs a number"};
  return std::nullopt;
}

// None if it is more than fits.
std::optional<std::int64_t> sum_of(std::int64_t number, const CellAdd& ask) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (ask.delta > 0 && number > Limits::max() - ask.delta) return std::nullopt;
  if (ask.delta < 0 && number < Limits::min() - ask.delta) return ask.floor;
  return std::max(number + ask.delta, ask.floor);
}

}  // namespace

std::optional<std::int64_t> number_in(std::string_view value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || std::to_string(number) != value) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> size_in(const CellState& state) {
  const auto number = number_in(state.value);
  if (!number || *number < 1 || *number > kMaxPermits) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::optional<Rejected> objection(const CellKey& key) {
  if (key.name.bytes().empty()) return Rejected{Errc::invalid_name, "a cell needs a name"};
  return std::nullopt;
}

std::optional<Rejected> objection(const CellWrite& ask) {
  if (ask.value.size() > kMaxCellValue) {
    return Rejected{Errc::invalid_argument, "a value is at most 64 KiB"};
  }
  if (auto no = objection(ask.key)) return no;
  return objection(ask.op);
}

std::optional<Rejected> objection(const CellAdd& ask) {
  if (auto no = objection(ask.key)) return no;
  return objection(ask.op);
}

Rejected older_operation() {
  return {Errc::unknown,
          "a later operation of this client was seen; whether this one was done is not known any "
          "more"};
}

CellReply CellEntry::write(const CellWrite& ask, TimePoint now) {
  if (auto no = objection(ask)) return *std::move(no);
  if (auto again = known(ask.op, ask.value)) return *std::move(again);
  if (state.version != ask.expected) return remember(ask.op, false, 0, now);
  state = {ask.value, state.version + 1};
  return remember(ask.op, true, 0, now);
}

CellReply CellEntry::add(const CellAdd& ask, TimePoint now) {
  if (auto no = objection(ask)) return *std::move(no);
  // Of a cell that was never written, and stayed so, the value is empty.
  const bool written = last.version != 0;
  if (auto again = known(ask.op, written ? std::to_string(last.sum) : std::string())) {
    return *std::move(again);
  }
  const auto before = state.version == 0 ? std::optional<std::int64_t>(0) : number_in(state.value);
  const auto sum = before ? sum_of(*before, ask) : std::nullopt;
  if (!sum) return remember(ask.op, false, 0, now);
  if (*sum != *before) state = {std::to_string(*sum), state.version + 1};
  return remember(ask.op, true, *sum, now);
}

std::optional<CellReply> CellEntry::known(const CellOp& op, std::string value) const {
  if (op.number > last.number) return std::nullopt;
  if (op.number < last.number) return older_operation();
  if (!last.done) return Conflict{state};
  return CellState{std::move(value), last.version};
}

CellReply CellEntry::remember(const CellOp& op, bool done, std::int64_t sum, TimePoint now) {
  last = {op.number, done, state.version, sum, now};
  if (!done) return Conflict{state};
  return state;
}

}  // namespace holdfast::rules
