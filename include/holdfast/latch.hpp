#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/result.hpp"
#include "holdfast/wait_options.hpp"

namespace holdfast {

namespace detail {
class ClientHandle;
}

// A gate by name that opens when it was counted down to zero, for all clients of its store.
//
//   open     count 0, also if it was never set   -- set_count(n > 0) --> closed
//   closed   count > 0                           -- count_down to 0  --> open
//
// Guarantees   A count_down() that succeeded counted exactly once, also if replies of the store were
//              lost on the way. The count never goes below zero. The count belongs to nobody: it stays
//              when clients go, and when the machine is booted anew on a store that keeps its data.
// Again        An open latch may be set again and begins a new round. Who waits is let go by the round
//              it began in, even if the next one was set before it could look, as long as that round was
//              counted down in steps of one; after larger steps it may take the new round for the old
//              one. Where that matters, use a new name for each round.
// On error     busy: set_count() of a latch that is closed; nothing was changed. timed_out, cancelled:
//              the latch did not open within options.wait, or options.stop came first. unknown: the
//              store fell silent for ClientOptions::patience, so it may have counted or not; count()
//              may tell. unavailable: silent as well, but nothing was changed. unsupported: the store
//              keeps no such values. store_corrupt: somebody else wrote into the latch.
// Blocking     wait() up to options.wait, and one answer more; all others one round trip.
// Threads      From any thread.
class Latch {
 public:
  Result<void> set_count(std::int64_t count) const;  // 0 leaves it open
  // What is left. No less than zero: counting down an open latch changes nothing.
  Result<std::int64_t> count_down(std::int64_t by = 1) const;
  Result<void> wait(const WaitOptions& options = {}) const;
  Result<bool> try_wait() const;  // whether it is open
  Result<std::int64_t> count() const;

  std::string_view name() const { return name_; }

 private:
  friend class Client;
  Latch(std::shared_ptr<detail::ClientHandle> client, std::string name)
      : client_(std::move(client)), name_(std::move(name)) {}

  std::shared_ptr<detail::ClientHandle> client_;
  std::string name_;
};

}  // namespace holdfast
