#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "holdfast/fence.hpp"
#include "holdfast/result.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

namespace detail {
class HoldState;
}

// Proof that this process holds a lock.
//
// Guarantees   While valid() no other Hold of this name that conflicts with it is valid (of a Mutex:
//              no other at all), given clock rates within the drift allowance and a store that keeps
//              its data.
// On loss      valid() turns false at valid_until() by itself; lost() fires as soon after as it can.
// On error     Nothing throws. release() tells Errc::lost if the lock was no longer ours,
//              Errc::not_owner if this Hold was released before, and Errc::out_of_memory if it may have
//              to be asked again; the destructor sees to it otherwise.
// Blocking     release() and verify() make one round trip; nothing else does. The destructor posts
//              the release and does not wait.
// Threads      const members from any thread. Belongs to no thread.
// After fork   In the child it is not valid and does nothing; the parent's stays as it was.
class [[nodiscard]] Hold {
 public:
  Hold(Hold&&) noexcept;
  Hold& operator=(Hold&&) noexcept;
  ~Hold();

  std::string_view name() const;
  FencingToken fence() const;
  // Of a semaphore: which permits these are, counted from 0; none if the store does not tell them
  // apart. Of other locks: none.
  std::span<const std::uint32_t> slots() const;
  std::string owner() const;  // as HolderRecord::owner has it: how others see this hold

  bool valid() const;
  TimePoint valid_until() const;
  Duration remaining() const;
  std::stop_token lost() const;

  Result<void> verify() const;
  Result<void> release();

 private:
  friend class detail::HoldState;
  explicit Hold(std::unique_ptr<detail::HoldState>);
  std::unique_ptr<detail::HoldState> state_;
};

}  // namespace holdfast
