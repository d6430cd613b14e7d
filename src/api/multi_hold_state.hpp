#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "holdfast/hold.hpp"
#include "holdfast/multi_hold.hpp"

namespace holdfast::detail {

// Tells a stop to somebody else.
struct PassOn {
  std::stop_source to;
  void operator()() { to.request_stop(); }
};
using PassedOn = std::stop_callback<PassOn>;

// The members of a MultiHold, while they are taken and afterwards.
class MultiHoldState {
 public:
  MultiHoldState();
  MultiHoldState(const MultiHoldState&) = delete;
  MultiHoldState& operator=(const MultiHoldState&) = delete;
  ~MultiHoldState();

  // The next that was taken; `place` is where it stands among the Mutexes that were given.
  void add(std::size_t place, Hold);
  // All were taken: puts them into their places.
  void arrange();

  const std::vector<Hold>& holds() const { return holds_; }
  const Hold* first_lost() const;  // null: all are valid
  std::stop_token lost() const { return lost_.get_token(); }
  std::vector<Error> release();  // what went wrong, in the order of the releases

 private:
  const std::uint64_t generation_;   // ForkWord's, when it was made
  std::vector<Hold> holds_;          // as they were taken; after arrange() as they were given
  std::vector<std::size_t> places_;  // of the first that was taken, the second …
  bool arranged_ = false;
  std::stop_source lost_;
  // Goes first, and may then wait for a callback of lost().
  std::unique_ptr<std::list<PassedOn>> losses_ = std::make_unique<std::list<PassedOn>>();
};

}  // namespace holdfast::detail
