// Which faults a seed stands for: a pure function, so that the same seed gives the same faults in the
// same order. When exactly they strike is up to the machine.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "checker/history.hpp"

namespace holdfast::torture {

using check::kNever;
using check::Time;

constexpr Time millis(std::int64_t n) { return n * 1'000'000; }

#define HOLDFAST_TORTURE_FAULTS(X)                                        \
  X(pause_short, "a process is stopped for less than a lease")            \
  X(pause_long, "a process is stopped for longer than a lease")           \
  X(kill, "a process is killed with kill -9 and another takes its place") \
  X(cancel, "a caller gives up its wait")                                 \
  X(close, "a client is closed while its callers wait")                   \
  X(revoke, "an operator revokes a hold")                                 \
  X(hog, "other processes want all of the CPU")                           \
  X(store, "something that befalls only this kind of store")

enum class Fault : std::uint8_t {
#define X(name, text) name,
  HOLDFAST_TORTURE_FAULTS(X)
#undef X
};
inline constexpr std::array kFaultNames = {
#define X(name, text) std::string_view(#name),
    HOLDFAST_TORTURE_FAULTS(X)
#undef X
};
inline constexpr std::array kFaultTexts = {
#define X(name, text) std::string_view(text),
    HOLDFAST_TORTURE_FAULTS(X)
#undef X
};
inline constexpr std::size_t kFaults = kFaultNames.size();

struct PlannedFault {
  std::uint64_t at_op = 0;  // strikes when so many acquires have begun
  Fault fault = Fault::cancel;
  std::uint32_t victim = 0;  // which worker, or one after it if that one cannot be hit just then
  Time length = 0;           // of those that last
  std::uint32_t which = 0;   // store: which of its disturbances

  friend bool operator==(const PlannedFault&, const PlannedFault&) = default;
};

// What the plan is made for.
struct Ground {
  std::uint64_t seed = 1;
  std::uint64_t ops = 0;
  std::uint64_t faults = 0;
  std::uint32_t workers = 1;
  Time lease = 0;
  std::uint32_t disturbances = 0;  // kinds that the store adds
  bool can_kill = true;            // a store inside one process dies with it
};

// In order of at_op. The last tenth of the run is left alone, to see that everybody is served then.
std::vector<PlannedFault> plan_of(const Ground&);

}  // namespace holdfast::torture
