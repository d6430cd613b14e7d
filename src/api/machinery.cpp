#include "api/machinery.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "transport/insist.hpp"

namespace holdfast::detail {
namespace {

// What a store may take to close, and callbacks that are under way to return, before a process that exits no
// longer waits.
constexpr std::chrono::seconds kClosing{1};

void end(std::unique_ptr<Machinery> machinery) {
  machinery->driver->shut_down(machinery->close_within);
  machinery->loop->stop();
  machinery->callbacks.stop();
}

void retire(Machinery* machinery) {
  if (!runtime::ForkWord::is_current(machinery->generation)) return;  // the parent's: leave it be
  if (!machinery->loop->on_loop_thread() && !machinery->driver->running_here()) {
    return end(std::unique_ptr<Machinery>(machinery));
  }
  // This very thread would have to be waited for: let another one do it.
  const Duration at_most =
      std::min<Duration>(machinery->close_within, kForever - kClosing) + kClosing;
  try {
    transport::insist([&] {
      runtime::Endings::begin([machinery] { end(std::unique_ptr<Machinery>(machinery)); }, at_most);
    });
  } catch (const std::system_error&) {
    // There can be no more threads. Its own go on, and give back what there is to give back.
  }
}

}  // namespace

std::shared_ptr<runtime::Driver> Machinery::share(std::unique_ptr<Machinery> machinery) {
  const auto visited = [&driver = *machinery->driver, &callbacks = machinery->callbacks] {
    // What a callback was given, and what it owned, goes when it has returned.
    return driver.visits() != 0 || (callbacks.at_work() && !callbacks.on_this_thread());
  };
  machinery->visited.emplace(visited, std::min<Duration>(machinery->close_within, kClosing));
  Machinery* const raw = machinery.release();
  return {raw->driver.get(), [raw](runtime::Driver*) { retire(raw); }};
}

}  // namespace holdfast::detail
