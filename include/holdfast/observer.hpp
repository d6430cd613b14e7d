#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/error.hpp"
#include "holdfast/fence.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

// Something that happened to a lock in this client.
struct LockEvent {
  enum class What : std::uint8_t {
    waiting,     // refused; in line
    acquired,    // granted by the store
    handed_off,  // passed on by another thread of this client
    renewed,
    renewal_unanswered,  // it is being tried again
    lost,                // error: lost or forced
    released,
    gave_up,  // error: busy, timed_out, cancelled, unavailable …
  };

  What what = What::waiting;
  TimePoint at{};
  std::string lock;
  FencingToken fence{};  // where a hold is concerned
  std::optional<Errc> error{};
  Duration took{};  // acquired, handed_off, gave_up: the wait; released, lost: the hold
};

std::string_view name_of(LockEvent::What) noexcept;

// Is told what happens, for logs, metrics and consoles.
//
// Blocking     May be slow: it delays other callbacks, never a renewal or a deadline.
// Threads      Called on the client's callbacks thread, one event at a time, in order.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(const LockEvent&) = 0;
};

}  // namespace holdfast
