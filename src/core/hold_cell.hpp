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
// Threads      The engine writes valid_until under its driver's mutex. Only the callbacks thread
//              calls lost.request_stop(), because that runs user code.
struct HoldCell {
  HoldCell(HoldId hold, const store::ClaimKey& claim, FencingToken token,
           std::vector<std::uint32_t> permits, TimePoint until)
      : id(hold),
        name(claim.name),
        kind(claim.kind),
        shape(claim.shape),
        owner(claim.owner),
        fence(token),
        slots(std::move(permits)),
        valid_until(until.time_since_epoch().count()) {}

  TimePoint until() const {
    return TimePoint(Duration(valid_until.load(std::memory_order_acquire)));
  }
  void set_until(TimePoint when) {
    valid_until.store(when.time_since_epoch().count(), std::memory_order_release);
  }

  const HoldId id;
  const store::LockName name;
  const store::Kind kind;
  const store::Shape shape;
  const store::OwnerId owner;
  const FencingToken fence;
  const std::vector<std::uint32_t> slots;
  std::atomic<TimePoint::rep> valid_until;
  LostWhy why_lost = LostWhy::expired;  // the engine's; read and written under the driver's mutex
  std::stop_source lost;
};

using HoldCellPtr = std::shared_ptr<HoldCell>;

// The deadline of a hold that has ended: earlier than any time.
inline constexpr TimePoint kEnded = TimePoint::min();

}  // namespace holdfast::core
