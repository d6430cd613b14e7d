// A thread of a worker that takes one lock after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "checker/history.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/store/capabilities.hpp"
#include "torture/action.hpp"
#include "torture/board.hpp"
#include "torture/bugs.hpp"
#include "torture/lock_list.hpp"
#include "torture/log.hpp"
#include "torture/resource.hpp"
#include "torture/session.hpp"

namespace holdfast::torture {

// What the callers of one worker share.
struct Workplace {
  Log& log;
  Board& board;
  const std::vector<LockPlan>& locks;
  store::Capabilities can;
  std::string resource;  // its path
  Bug bug = Bug::none;
};

class Caller {
 public:
  Caller(Workplace& place, Seat& seat, std::uint32_t number, std::uint64_t stream)
      : place_(place), seat_(seat), number_(number), random_(stream), link_(place.resource) {}

  // Until all acquires of the run have begun.
  void run();

  // From another thread: gives up the wait, or the next one. True if there was one.
  bool cancel();

  // What chance need not bring about: holds a lock past its lease, lets `next` write, which is of another client, and
  // then writes what it would have written in time.
  void write_late(Caller& next);

 private:
  // An acquire, and the hold that came of it.
  struct Visit {
    std::shared_ptr<Session> session;
    check::Acquire entry;
    std::optional<Hold> hold{};
  };

  void act(const Action&);
  Visit begin(const std::shared_ptr<Session>&, const LockPlan&, const store::Shape&,
              const AcquireOptions&);
  Result<Hold> ask(const Visit&, const LockPlan&, const Action&);
  bool answered(Visit&, Result<Hold>);
  void use(Visit&, const Action&);
  void change(Visit&, const Action&, const std::function<void()>& work);
  void exchange(Visit&, const Action&);
  void let_go(Visit&, bool confirmed);
  void end_record(Visit&);

  Workplace& place_;
  Seat& seat_;
  const std::uint32_t number_;
  test::SeededRandom random_;
  ResourceLink link_;
  std::uint64_t ops_ = 0;
  std::mutex mutex_;  // for these two
  std::stop_source stop_;
  bool waits_ = false;
};

Result<Hold> acquire(const Client&, const LockPlan&, const store::Shape&, const AcquireOptions&);
// The number of a claim, from the text of its owner.
std::uint64_t claim_from(const std::string& owner);
// Fills in what is known when a hold came back.
void note_granted(check::Acquire&, const Hold&, const Sightings&);

}  // namespace holdfast::torture
