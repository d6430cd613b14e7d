#pragma once

#include <cstdint>
#include <functional>
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

struct VersionedValue {
  std::string value;          // any bytes, at most 64 KiB
  std::uint64_t version = 0;  // 0: never written
};

// A small value by name that is changed without a lock: whoever writes says which version was read,
// and is refused if somebody else was faster.
//
// Guarantees   A version is given once and never restarts. A write that succeeded was done exactly
//              once, also if replies of the store were lost on the way.
// On error     busy: write() found another version; nothing was changed. timed_out, cancelled: update()
//              lost every race within options.wait, or options.stop came first; nothing was changed.
//              unknown: the store fell silent for ClientOptions::patience, so it may have been written
//              or not. unavailable: silent as well, but nothing was changed. invalid_argument: a value
//              of more than 64 KiB. unsupported: the store keeps no values.
// Blocking     One round trip; update() one more for each race that it loses.
// Threads      From any thread.
class Versioned {
 public:
  // What the value is to become. An error leaves it as it is, and is update()'s result. Runs on the
  // calling thread, once for each attempt, and under no lock.
  using Change = std::function<Result<std::string>(const VersionedValue&)>;

  Result<VersionedValue> read() const;
  // The new version.
  Result<std::uint64_t> write(std::string_view value, std::uint64_t expected) const;
  // Reads, changes and writes; again if somebody else was faster. What was written at last.
  Result<VersionedValue> update(const Change& change, const WaitOptions& options = {}) const;

  std::string_view name() const { return name_; }

 private:
  friend class Client;
  Versioned(std::shared_ptr<detail::ClientHandle> client, std::string name)
      : client_(std::move(client)), name_(std::move(name)) {}

  std::shared_ptr<detail::ClientHandle> client_;
  std::string name_;
};

}  // namespace holdfast
