#pragma once

#include <memory>
#include <string_view>

#include "holdfast/mutex.hpp"
#include "holdfast/options.hpp"
#include "holdfast/result.hpp"

namespace holdfast {

// A connection to a store, and everything that keeps its locks alive.
//
// Guarantees   Holds outlive it: they are renewed until they are released. When the last of a client,
//              its Mutexes and copies goes, whatever waits ends as Errc::cancelled.
// Blocking     The last of a client and its Holds waits up to ClientOptions::close_within for
//              releases under way.
// Threads      From any thread. Has two threads of its own: one for time and sockets, one for
//              callbacks, which starts when the first is needed.
// After fork   Everything answers Errc::forked in the child, which may connect anew.
class Client {
 public:
  // A name is 1 to 512 bytes; another one is told by the first acquire as Errc::invalid_name.
  Mutex mutex(std::string_view name) const;

 private:
  friend class detail::ClientHandle;
  explicit Client(std::shared_ptr<detail::ClientHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<detail::ClientHandle> handle_;
};

// Opens a store by its URL; an empty one means $HOLDFAST_URL. `memory:` lives in this process only,
// `memory:NAME` is one of several.
//
// On error     invalid_argument for a URL that makes no sense or options out of range, unsupported
//              for a scheme this build does not have; what a store says when it cannot be opened.
Result<Client> connect(std::string_view url = {}, ClientOptions options = {});

}  // namespace holdfast
