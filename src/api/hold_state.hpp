#pragma once

#include <atomic>
#include <memory>

#include "api/client_handle.hpp"
#include "holdfast/hold.hpp"
#include "runtime/driver.hpp"

namespace holdfast::detail {

// A Hold's share in its client.
class HoldState {
 public:
  HoldState(std::shared_ptr<runtime::Driver> driver, std::uint64_t generation)
      : driver_(std::move(driver)), generation_(generation) {}
  HoldState(const HoldState&) = delete;
  HoldState& operator=(const HoldState&) = delete;
  ~HoldState();

  // A Hold, in a state that was made before there was anything to hold: once there is, nothing may
  // fail any more.
  static Hold make_hold(std::unique_ptr<HoldState>, core::HoldCellPtr) noexcept;

  // The hold to be exchanged for another of the same client; null if it is none of that client's, or
  // was given back.
  static core::HoldCellPtr cell_of(const Hold&, const ClientHandle&);
  // It was exchanged: there is nothing to give back.
  static void forget(Hold&);

  const core::HoldCell& cell() const { return *cell_; }
  bool valid() const;
  Duration remaining() const;
  Result<void> verify() const;
  Result<void> release();

 private:
  bool forked() const;
  Error misuse(Errc, const char* text) const;

  std::shared_ptr<runtime::Driver> driver_;
  core::HoldCellPtr cell_;  // null: it holds nothing yet
  std::uint64_t generation_;
  std::atomic<bool> released_{false};
};

}  // namespace holdfast::detail
