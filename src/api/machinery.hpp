#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "holdfast/time.hpp"
#include "runtime/boot_clock.hpp"
#include "runtime/callback_thread.hpp"
#include "runtime/driver.hpp"
#include "runtime/endings.hpp"
#include "runtime/epoll_loop.hpp"
#include "runtime/fork_word.hpp"
#include "runtime/kernel_random.hpp"

namespace holdfast::detail {

// Everything a client runs on. Members go in reverse order: the driver first, then what it stood on.
struct Machinery {
  // The driver, and with it all of this. Whoever lets go of it last waits for what is on its way out of the store,
  // up to `close_within`; on a thread of the client's own another thread does that, for which the process waits
  // when it exits, as it does for a callback that may let go last.
  static std::shared_ptr<runtime::Driver> share(std::unique_ptr<Machinery>);

  std::uint64_t generation = runtime::ForkWord::enter();
  Duration close_within{};
  runtime::BootClock clock;
  runtime::KernelRandom random;
  runtime::CallbackThread callbacks;
  std::unique_ptr<runtime::EpollLoop> loop;
  std::unique_ptr<runtime::Driver> driver;
  std::optional<runtime::Endings::Known> known;
};

}  // namespace holdfast::detail
