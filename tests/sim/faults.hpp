// What can go wrong in a schedule, and how often it did.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::sim {

#define HOLDFAST_FAULTS(X)                                                             \
  X(slow_message, "a request or reply takes up to one and a half leases")              \
  X(lost_request, "a request is lost before the store saw it")                         \
  X(lost_reply, "the store did it, the reply is lost")                                 \
  X(late_reply, "a reply arrives after its deadline")                                  \
  X(reset, "the connection breaks; some requests still arrive")                        \
  X(partition, "a client and the store are cut off from each other")                   \
  X(refused, "the store cannot be reached and says so at once")                        \
  X(lost_wake, "a wake is lost")                                                       \
  X(doubled_wake, "a wake arrives twice, the second time late")                        \
  X(pause, "a client stands still for up to two leases")                               \
  X(crash, "a client is gone for good")                                                \
  X(cancel, "a caller gives up")                                                       \
  X(drop, "a caller drops its Pending")                                                \
  X(revoke, "an operator revokes a hold")                                              \
  X(stale_follower, "a follower is cut off from its leader and goes on answering")     \
  X(close, "a client is closed while its callers wait")                                \
  X(duplicate, "a request is executed twice, the second time late")                    \
  X(reordered, "a request is overtaken by those sent after it")                        \
  X(requests_cut, "no request of a client arrives for a while; replies and wakes do")  \
  X(replies_cut, "requests of a client arrive for a while; no reply and no wake does") \
  X(lost_watch, "the store forgets who watches, and tells nobody")                     \
  X(vm_pause, "all clients of one host stand still together; their clocks go on")      \
  X(wall_step, "the wall clock of a client is set forward or back")                    \
  X(slew, "the clock of a client changes its rate, within the allowance")              \
  X(election, "the session store has no leader for a while, then another one")         \
  X(store_step, "the clock of the store is set forward or back")                       \
  X(amnesia, "the store forgets everything but the time")                              \
  X(bad_rate, "the clock of a client runs up to a tenth too fast or too slow")         \
  X(deposed_leader, "a leader is cut off, the others have a new one; it goes on answering")

enum class Fault : std::uint8_t {
#define X(name, text) name,
  HOLDFAST_FAULTS(X)
#undef X
};

inline constexpr std::array kFaultNames = {
#define X(name, text) std::string_view(#name),
    HOLDFAST_FAULTS(X)
#undef X
};
inline constexpr std::size_t kFaults = kFaultNames.size();

constexpr std::string_view name_of(Fault fault) {
  return kFaultNames[static_cast<std::size_t>(fault)];
}

// From here on a fault takes no chance where it is not planned: seeds from before it was there keep
// their meaning.
constexpr bool came_later(Fault fault) { return fault >= Fault::duplicate; }

struct FaultCounts {
  struct Count {
    std::uint64_t hits = 0;
    std::uint64_t inside = 0;  // while an operation of that client was open
    std::uint64_t schedules = 0;
  };
  std::array<Count, kFaults> of{};

  const Count& operator[](Fault fault) const { return of[static_cast<std::size_t>(fault)]; }

  void hit(Fault fault, bool inside) {
    Count& count = of[static_cast<std::size_t>(fault)];
    ++count.hits;
    count.inside += inside ? 1 : 0;
    count.schedules = 1;
  }
  void add(const FaultCounts& other) {
    for (std::size_t i = 0; i < kFaults; ++i) {
      of[i].hits += other.of[i].hits;
      of[i].inside += other.of[i].inside;
      of[i].schedules += other.of[i].schedules;
    }
  }
};

}  // namespace holdfast::sim
