#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>

#include "holdfast/fence.hpp"
#include "holdfast/result.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

namespace detail {
class ReentrantHoldState;
}

// One entry of an owner into a ReentrantMutex. The lock is given back with the last of them.
//
// Guarantees   As Hold. All entries of one owner share one store grant: fence, lease and loss are the
//              same for all of them.
// On loss      As Hold, for all entries at once.
// On error     Nothing throws. release() tells Errc::lost or forced if the lock was no longer ours,
//              and Errc::not_owner if this entry was released before; it counts down in any case.
// Blocking     release() of the last entry makes one round trip; nothing else does. The destructor of
//              the last posts the release and does not wait.
// Threads      const members from any thread. Belongs to its owner, not to a thread: it may be
//              released on another one.
// After fork   In the child it is not valid and does nothing; the parent's stays as it was.
class [[nodiscard]] ReentrantHold {
 public:
  ReentrantHold(ReentrantHold&&) noexcept;
  ReentrantHold& operator=(ReentrantHold&&) noexcept;
  ~ReentrantHold();

  std::string_view name() const;
  FencingToken fence() const;
  std::uint64_t count() const;  // entries of this owner, this one included

  bool valid() const;
  TimePoint valid_until() const;
  Duration remaining() const;
  std::stop_token lost() const;

  Result<void> release();

 private:
  friend class ReentrantMutex;
  explicit ReentrantHold(std::unique_ptr<detail::ReentrantHoldState>);
  bool entered() const;  // not moved away, not released
  std::unique_ptr<detail::ReentrantHoldState> state_;
};

}  // namespace holdfast
