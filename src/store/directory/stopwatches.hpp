// How a client finds out that a holder is dead, without comparing two clocks.
//
// It notes each sign of life with the time at which it had read it, by its own clock. If a fresh look,
// made after lease + allowance have passed since, finds the same text, then the holder has been silent
// for longer than its lease: that time began when the sign of life was already written, so it counts
// at least from the moment at which the holder sent it, while the holder counts its lease less an
// allowance from before that moment. A client that was stopped meanwhile has only waited longer; one
// that has not watched for so long knows nothing, however old the files are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "holdfast/store/lock_name.hpp"
#include "holdfast/time.hpp"
#include "store/directory/lock_folder.hpp"

namespace holdfast::store::directory {

// How much longer than the lease a holder must be silent: our clock may run faster than its own.
constexpr Duration allowance_of(Duration lease) {
  return lease / 100 + std::chrono::milliseconds(2);
}

// Threads      One at a time.
class Stopwatches {
 public:
  struct Left {
    Duration lease{};    // of the holder, as far as we can know: at most so much
    Duration silence{};  // until it counts as dead; 0: it does
  };

  // `looked` is the time before the look, `read` the time after it.
  Left left(const LockName&, const Seen&, TimePoint looked, TimePoint read);
  // We have written that sign of life ourselves.
  void restart(const LockName&, std::uint64_t generation, std::string life, Duration lease,
               TimePoint written);
  void forget(const LockName& name) { running_.erase(name); }

  // Until a generation that this client has seen, and that is not there any more, counts as dead.
  Duration left_of_missing(const LockName&, std::uint64_t newest, TimePoint now) const;

 private:
  struct Stopwatch {
    std::uint64_t generation = 0;
    std::string life;
    Duration lease{};
    TimePoint since{};
  };
  std::map<LockName, Stopwatch> running_;
};

}  // namespace holdfast::store::directory
