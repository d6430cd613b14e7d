#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/nap.hpp"
#include "holdfast/result.hpp"
#include "holdfast/store/cells.hpp"
#include "runtime/driver.hpp"

namespace holdfast::detail {

// How a client asks for cells: a store makes one attempt and may leave it unanswered; here that is
// repeated until it is known what became of it.
//
// Guarantees   An operation keeps its number, however often it is asked for, so it is done once. One
//              operation of this client per cell is under way at a time: the store knows the last one
//              only, and a repeated older one would be refused.
// On error     unknown: silent for ClientOptions::patience, and one attempt may have been done;
//              unavailable: silent as well, but nothing was done. What the store says of itself
//              (permission, store_full …) is told at once. Texts name the cell.
// Threads      From any thread. No store call and no sleep under a mutex.
class CellDesk {
 public:
  explicit CellDesk(runtime::Driver& driver) : driver_(driver) {}

  // What became of an operation: the state after it, or the one that it conflicts with.
  struct Outcome {
    bool done = false;
    store::CellState state;
  };

  Result<store::CellState> read(const store::CellKey&);
  // One attempt; unavailable if there is no answer.
  Result<store::CellState> look(const store::CellKey&);
  // The operation's id is set here.
  Result<Outcome> write(store::CellWrite);
  Result<Outcome> add(store::CellAdd);
  // Rings when the cell may have changed.
  store::WatchPtr watch(const store::CellKey&, const std::shared_ptr<Bell>&);

  runtime::Driver& driver() { return driver_; }

 private:
  // Who may have an operation under way.
  class Turn;
  struct Place {
    std::shared_ptr<Nap> nap = std::make_shared<Nap>();
    bool served = false;
  };
  using Line = std::deque<std::shared_ptr<Place>>;

  template <class Verb>
  store::CellReply repeat(TimePoint until, Verb verb);
  template <class Ask, class Verb>
  Result<Outcome> operate(Ask ask, Verb verb);

  bool take_turn(const store::CellKey&, TimePoint until);
  void pass_turn(const store::CellKey&);

  runtime::Driver& driver_;
  std::mutex mutex_;  // guards what is below
  std::uint64_t last_number_ = 0;
  std::map<store::CellKey, Line> lines_;  // of each cell that somebody has the turn of
};

// The number that a cell holds, if it is one.
std::optional<std::int64_t> number_in(const store::CellState&);

}  // namespace holdfast::detail
