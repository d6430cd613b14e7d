#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/finding.hpp"
#include "holdfast/inspect.hpp"
#include "holdfast/latch.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/options.hpp"
#include "holdfast/reentrant_mutex.hpp"
#include "holdfast/result.hpp"
#include "holdfast/semaphore.hpp"
#include "holdfast/shared_mutex.hpp"
#include "holdfast/versioned.hpp"

namespace holdfast {

// A connection to a store, and everything that keeps its locks alive.
//
// Guarantees   Holds outlive it: they are renewed until they are released. When the last of a client,
//              its Mutexes and copies goes, whatever waits ends as Errc::cancelled.
// Blocking     The last of a client and its Holds waits up to ClientOptions::close_within for
//              releases under way. In a callback it does not, nor while an answer is to come to what was dropped;
//              there exit() waits instead, no more than two seconds longer, one of them for callbacks to return.
//              A callback to come that has a Client or a Mutex keeps the client: exit() does not wait for that.
// Threads      From any thread. Has two threads of its own: one for time and sockets, one for
//              callbacks, which starts when the first is needed.
// After fork   Everything answers Errc::forked in the child, which may connect anew.
class Client {
 public:
  // A name is 1 to 512 bytes; another one is told by the first acquire as Errc::invalid_name.
  Mutex mutex(std::string_view name) const;
  SharedMutex shared_mutex(std::string_view name) const;
  Semaphore semaphore(std::string_view name, SemaphoreOptions options) const;
  Latch latch(std::string_view name) const;
  Versioned versioned(std::string_view name) const;

  // The lock of mutex(name), for code that may come by it again while it has it, and for
  // std::scoped_lock. The options are those of lock() and its kin.
  ReentrantMutex reentrant_mutex(std::string_view name, AcquireOptions options = {}) const;

  // --- for operators ---

  // Locks that are held or waited for and whose whole name matches a pattern with * and ?; a
  // backslash takes the next byte as it is. In the order of names.
  Result<std::vector<LockInfo>> inspect(std::string_view pattern = "*") const;

  // Takes a lock away from its holder. Without `now` the hold is revoked: it is told lost() and the
  // lock is free when it lets go, or at the end of its lease; exclusion is kept. With `now` the lock
  // is free at once, while the holder may still be at work. Errc::not_owner if that fence does not
  // hold the lock (any more).
  Result<void> force_release(std::string_view name, ForceOptions options) const;

  // What an operator should know about the store, worst last.
  Result<std::vector<Finding>> examine() const;

  // How the store itself calls that lock: for people.
  Result<std::string> place_of(std::string_view name) const;

  // A descriptor that a child process may inherit, so that the locks of this client are not taken
  // over early, should it die, before that child is gone as well; -1 if only leases count on this
  // store. It stays the client's: do not close it here. It is there after the first acquire.
  int lifeline() const;

 private:
  friend class detail::ClientHandle;
  explicit Client(std::shared_ptr<detail::ClientHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<detail::ClientHandle> handle_;
};

// Opens a store by its URL; an empty one means $HOLDFAST_URL, or `embedded:` if that is not set.
// `embedded:` is a file of this user on this machine, `memory:` lives in this process only,
// `memory:NAME` is one of several.
//
// On error     invalid_argument for a URL that makes no sense or options out of range, unsupported
//              for a scheme this build does not have; what a store says when it cannot be opened.
Result<Client> connect(std::string_view url = {}, ClientOptions options = {});

}  // namespace holdfast
