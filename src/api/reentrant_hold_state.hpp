#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "api/reentrant_holds.hpp"
#include "holdfast/reentrant_hold.hpp"

namespace holdfast::detail {

// A ReentrantHold's share in what its owner has.
class ReentrantHoldState {
 public:
  ReentrantHoldState(std::shared_ptr<ReentrantHolds> all, ReentrantCellPtr cell,
                     std::uint64_t owner)
      : all_(std::move(all)), cell_(std::move(cell)), owner_(owner) {}
  ReentrantHoldState(const ReentrantHoldState&) = delete;
  ReentrantHoldState& operator=(const ReentrantHoldState&) = delete;
  ~ReentrantHoldState();

  const Hold& hold() const { return cell_->hold; }
  std::uint64_t count() const { return all_->count(*cell_); }
  bool released() const { return released_; }
  Result<void> release();

 private:
  std::shared_ptr<ReentrantHolds> all_;
  ReentrantCellPtr cell_;
  std::uint64_t owner_;
  std::atomic<bool> released_{false};
};

}  // namespace holdfast::detail
