#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "holdfast/inspect.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// Where we stand: the 3rd of 5.
struct Place {
  std::size_t number = 0;
  std::size_t of = 0;
};

// What a waiter has seen of the lock it waits for, from one look at the store after the other.
class Sight {
 public:
  // Which of the waiters are we?
  Sight(std::string host, std::int64_t pid) : host_(std::move(host)), pid_(pid) {}

  void saw(const std::optional<LockInfo>&, TimePoint now);

  bool anything() const { return seen_at_ != kNever; }
  const std::optional<ClaimInfo>& holder() const { return holder_; }
  std::optional<Place> place() const { return place_; }
  std::size_t waiters() const { return waiters_; }
  // Of the holder's, as it must be by now.
  Duration lease_left(TimePoint now) const;
  // Since we saw that the holder had renewed; nothing: we did not see it.
  std::optional<Duration> renewed_ago(TimePoint now) const;

 private:
  std::string host_;
  std::int64_t pid_;
  TimePoint seen_at_ = kNever;
  std::optional<ClaimInfo> holder_;
  std::optional<Place> place_;
  std::size_t waiters_ = 0;
  std::optional<TimePoint> renewed_at_;
};

}  // namespace holdfast::cli
