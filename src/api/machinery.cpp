#include "api/machinery.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "transport/insist.hpp"

namespace holdfast::detail {
namespace {

// What a store may take to close before a process that exits no longer waits.
constexpr std::chrono::seconds kClosing{1};

void give_back(Machinery& machinery) {
  machinery.driver->shut_down(machinery.close_within);
  machinery.loop->stop();
}

// Waits for the callback that is at work.
void end(std::unique_ptr<Machinery> machinery) { machinery->callbacks.stop(); }

void retire(Machinery* machinery) {
  if (!runtime::ForkWord::is_current(machinery->generation)) return;  // the parent's: leave it be
  if (!machinery->loop->on_loop_thread() && !machinery->driver->running_here()) {
    give_back(*machinery);
    return end(std::unique_ptr<Machinery>(machinery));
  }
  // This very thread would have to be waited for: let another one do it.
  const Duration at_most =
      std::min<Duration>(machinery->close_within, kForever - kClosing) + kClosing;
  try {
    transport::insist([&] {
      runtime::Endings::begin({.give_back = [machinery] { give_back(*machinery); },
                               .end = [machinery] { end(std::unique_ptr<Machinery>(machinery)); },
                               .callbacks = machinery->callbacks.id(),
                               .at_most = at_most});
    });
  } catch (const std::system_error&) {
    // There can be no more threads. Its own go on, and give back what there is to give back.
  }
}

}  // namespace

std::shared_ptr<runtime::Driver> Machinery::share(std::unique_ptr<Machinery> machinery) {
  const auto winds_up = [&driver = *machinery->driver] { return driver.winds_up(); };
  machinery->known.emplace(runtime::Endings::Life{
      .callbacks = machinery->callbacks, .winds_up = winds_up, .at_most = machinery->close_within});
  Machinery* const raw = machinery.release();
  return {raw->driver.get(), [raw](runtime::Driver*) { retire(raw); }};
}

}  // namespace holdfast::detail
