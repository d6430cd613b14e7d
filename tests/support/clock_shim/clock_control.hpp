// What a test and the clock shim in another process share: a mapped file with this in it.
#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::test {

// Says HOLDFAST_CLOCK_CONTROL=<file> to the shim.
inline constexpr char kClockControlVariable[] = "HOLDFAST_CLOCK_CONTROL";

// How a clock differs from the kernel's. All zero: not at all.
struct ClockChange {
  std::int64_t ahead_ns = 0;    // at the anchor
  std::int64_t faster_ppm = 0;  // from then on; -1'000'000: it stands still
  std::int64_t anchor_ns = 0;   // a moment of the kernel's CLOCK_MONOTONIC

  // `mono_ns` is the kernel's CLOCK_MONOTONIC. Hours at a hundred times the rate fit.
  constexpr std::int64_t ahead_at(std::int64_t mono_ns) const {
    constexpr std::int64_t kMillion = 1'000'000;
    const std::int64_t passed = mono_ns - anchor_ns;
    return ahead_ns + passed / kMillion * faster_ppm + passed % kMillion * faster_ppm / kMillion;
  }
};

// The two families of clocks: that of CLOCK_REALTIME, which can be set, and that of CLOCK_MONOTONIC and
// CLOCK_BOOTTIME, which cannot.
enum class ShimClock { wall, steady };

// One writer, any number of readers in other processes. A reader that meets a change begins again, so
// it never sees half of one.
class ClockControl {
 public:
  void set(ShimClock clock, const ClockChange& change) {
    changes_ = changes_ + 1;
    Slot& slot = slots_[static_cast<int>(clock)];
    slot.ahead_ns = change.ahead_ns;
    slot.faster_ppm = change.faster_ppm;
    slot.anchor_ns = change.anchor_ns;
    changes_ = changes_ + 1;
  }

  ClockChange get(ShimClock clock) const {
    const Slot& slot = slots_[static_cast<int>(clock)];
    while (true) {
      const std::uint64_t before = changes_;
      const ClockChange change{slot.ahead_ns, slot.faster_ppm, slot.anchor_ns};
      if (before % 2 == 0 && changes_ == before) return change;
    }
  }

 private:
  using Number = std::atomic<std::int64_t>;
  static_assert(Number::is_always_lock_free);  // else processes could not share it
  struct Slot {
    Number ahead_ns, faster_ppm, anchor_ns;
  };

  std::atomic<std::uint64_t> changes_;  // odd: one is under way
  Slot slots_[2];
};

}  // namespace holdfast::test
