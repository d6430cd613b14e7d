// The values of cells that count, and sums at the edge of what fits.
#include <string>
#include <variant>

#include "api/cell_desk.hpp"
#include "fuzz/input.hpp"
#include "fuzz/target.hpp"
#include "rules/cell_entry.hpp"

namespace holdfast::fuzz {
namespace {

using namespace store;

const Target kCells("cells", [](std::string_view bytes) {
  const std::string value(bytes);
  const auto number = rules::number_in(value);
  if (number) require(std::to_string(*number) == value, "a number has one form");
  const auto size = rules::size_in({value, 1});
  if (size) require(number && *number == *size, "a size is its number");
  const auto told = detail::number_in(CellState{value, 1});
  if (number) require(told == number, "whoever reads a cell sees the same number");

  Input input(bytes);
  const auto key = CellKey{CellKind::latch, LockName::checked("cell").value()};
  rules::CellEntry entry;
  entry.state = {input.flag() ? std::to_string(input.number()) : input.text(), input.byte()};
  if (entry.state.version == 0) entry.state.value.clear();  // it was never written
  for (std::uint64_t op = 1; !input.done(); ++op) {
    const CellState before = entry.state;
    const CellAdd ask{.key = key, .delta = input.number(), .floor = input.number(), .op = {{}, op}};
    const auto reply = entry.add(ask, {});
    if (std::holds_alternative<Conflict>(reply)) {
      require(entry.state.value == before.value, "a conflict changes nothing");
      continue;
    }
    const auto* done = std::get_if<CellState>(&reply);
    require(done != nullptr, "an add is done or not");
    const auto sum = rules::number_in(done->value.empty() ? "0" : done->value);
    require(sum.has_value(), "a sum is a number");
    require(entry.state.value.empty() || *sum >= ask.floor, "and not below its floor");
    const auto again = entry.add(ask, {});
    const auto* same = std::get_if<CellState>(&again);
    require(same != nullptr && same->value == done->value, "asked again, it is done once");
  }
});

}  // namespace
}  // namespace holdfast::fuzz
