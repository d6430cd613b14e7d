#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "holdfast/hold.hpp"
#include "holdfast/options.hpp"
#include "holdfast/pending.hpp"
#include "holdfast/result.hpp"

namespace holdfast {

namespace detail {
class ClientHandle;
}

// A lock by name that many readers hold together, or one writer alone.
//
//                 reader   upgradeable reader   writer
//   reader          ✓              ✓              –       may be held together
//   upgradeable     ✓              –              –
//   writer          –              –              –
//
// Guarantees   Stateless, as Mutex. Served in order of arrival: readers that come after a waiting
//              writer wait behind it, so no writer starves. Each reader has a lease of its own: one
//              that dies keeps a writer out no longer than that. Fences grow with every hold, of
//              readers as well; only a writer's guards a resource.
// On error     As Mutex. Errc::would_deadlock if a task (AcquireOptions::owner) would wait for itself,
//              unsupported if the store has no such locks.
// Blocking     As Mutex.
// Threads      From any thread.
class SharedMutex {
 public:
  Result<Hold> acquire(AcquireOptions options = {}) const;  // alone
  Result<Hold> try_acquire(AcquireOptions options = {}) const;
  Pending<Hold> async_acquire() const;
  Pending<Hold> async_acquire(AcquireOptions options) const;

  Result<Hold> acquire_shared(AcquireOptions options = {}) const;
  Result<Hold> try_acquire_shared(AcquireOptions options = {}) const;
  Pending<Hold> async_acquire_shared() const;
  Pending<Hold> async_acquire_shared(AcquireOptions options) const;

  // A reader, one at a time, that can become the writer.
  Result<Hold> acquire_upgradeable(AcquireOptions options = {}) const;
  Result<Hold> try_acquire_upgradeable(AcquireOptions options = {}) const;
  Pending<Hold> async_acquire_upgradeable() const;
  Pending<Hold> async_acquire_upgradeable(AcquireOptions options) const;

  // Exchange a hold of this lock for another kind of hold, with no writer in between. If it works,
  // `hold` is empty afterwards; if not, it is what it was, unless nobody knows whether the store did
  // it: then it is lost. The new hold has a greater fence, and its options are those given here;
  // its lease is not shorter than before.
  //
  // downgrade()  A writer or an upgradeable reader becomes a reader, at once. From the call on it is
  //              not a writer any more: valid() of the old hold is false.
  // upgrade()    An upgradeable reader becomes the writer when the other readers have left; those
  //              that come meanwhile wait.
  // On error     not_owner if `hold` is not such a hold of this lock and client; lost if it was lost.
  Result<Hold> downgrade(Hold& hold, AcquireOptions options = {}) const;
  Result<Hold> upgrade(Hold& hold, AcquireOptions options = {}) const;

  std::string_view name() const { return name_; }

 private:
  friend class Client;
  SharedMutex(std::shared_ptr<detail::ClientHandle> client, std::string name)
      : client_(std::move(client)), name_(std::move(name)) {}

  std::shared_ptr<detail::ClientHandle> client_;
  std::string name_;
};

}  // namespace holdfast
