// What one seed stands for: how many clients, which faults, how fast, how long.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "faults.hpp"
#include "world.hpp"

namespace holdfast::sim {

struct Plan {
  // Whether the store keeps a lease for each hold, or a session for each client.
  enum class Family : std::uint8_t { lease, session };
  enum class Locks : std::uint8_t { mutexes, shared_mutexes, semaphores };

  std::uint64_t seed = 0;
  Family family = Family::lease;
  Locks locks = Locks::mutexes;
  std::uint32_t permits = 1;  // of each semaphore
  std::uint32_t clients = 2;
  std::uint32_t names = 1;
  std::uint32_t rounds = 3;   // of each caller
  std::uint32_t callers = 1;  // at most, in each client
  std::vector<Time> leases;   // to choose from
  Time shortest_delay = 0;
  Time longest_delay = 0;  // of a message without a fault
  bool in_order = true;    // requests of one client arrive in the order of sending
  std::uint32_t fifo_percent = 0;
  std::array<std::uint32_t, kFaults> per_mille{};  // how likely each fault is, 0 = not in this one
  Time faults_end = 0;
  Time answer_within = 0;
  Time patience = 0;
  std::uint32_t handoff_count = 0;
  Time handoff_time = 0;
  Time session_timeout = 0;     // sessions only
  std::uint32_t followers = 0;  // sessions only; there is a leader besides
  std::int64_t clock_ppm = 0;   // clocks are off by at most this, either way, from the beginning
  std::uint32_t verify_percent = 0;  // of those who write

  static constexpr std::int64_t kSlewPpm = 9'900;  // the allowance is 10'000
  static constexpr std::int64_t kBadRatePpm = 100'000;

  bool calm() const {
    for (const std::uint32_t each : per_mille) {
      if (each != 0) return false;
    }
    return true;
  }
  bool hand_off() const { return locks == Locks::mutexes && handoff_count > 0; }
  std::uint32_t likelihood(Fault fault) const { return per_mille[static_cast<std::size_t>(fault)]; }
  std::int64_t largest_ppm() const;
  Time longest_lease() const;
  // How long the store may remember a client that it does not hear of.
  Time longest_memory() const;

  // Those that came_later(), and verify().
  bool has_later_faults() const;
  // The one fault here that breaks a premise of the promises.
  std::optional<Fault> broken_premise() const;

  static Plan from_seed(std::uint64_t seed);

 private:
  void leave_out_by_seed();
};

}  // namespace holdfast::sim
