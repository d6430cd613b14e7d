#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "core/lease_machine.hpp"
#include "holdfast/fence.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/store/lock_name.hpp"
#include "holdfast/time.hpp"

namespace holdfast::core {

// What the engine and a Hold share: the Hold reads it from any thread without asking anybody.
//
// It is made with the wish for the lock and filled in when that is granted, so that a grant does not
// fail for want of memory. Before that nobody but the engine has it.
//
// Threads      The engine writes valid_until under its driver's mutex. Only the callbacks thread
//              calls lost.request_stop(), because that runs user code.
struct HoldCell {
  HoldCell(store::Kind of, const store::LockName& lock) : name(lock), kind(of) {}

  void fill(HoldId hold, const store::ClaimKey& claim, FencingToken token,
            std::vector<std::uint32_t> permits, TimePoint until) {
    id = hold;
    shape = claim.shape;
    owner = claim.owner;
    fence = token;
    slots = std::move(permits);
    set_until(until);
  }

  TimePoint until() const {
    return TimePoint(Duration(valid_until.load(std::memory_order_acquire)));
  }
  void set_until(TimePoint when) {
    valid_until.store(when.time_since_epoch().count(), std::memory_order_release);
  }

  const store::LockName name;
  const store::Kind kind;
  // By fill().
  HoldId id = 0;
  store::Shape shape;
  store::OwnerId owner;
  FencingToken fence;
  std::vector<std::uint32_t> slots;
  std::atomic<TimePoint::rep> valid_until{0};
  // Its Hold is gone, and there was no memory to say so: it is released when it would be renewed.
  std::atomic<bool> dropped{false};
  LostWhy why_lost = LostWhy::expired;  // the engine's; read and written under the driver's mutex
  std::stop_source lost;
};

using HoldCellPtr = std::shared_ptr<HoldCell>;

// The deadline of a hold that has ended: earlier than any time.
inline constexpr TimePoint kEnded = TimePoint::min();

}  // namespace holdfast::core
