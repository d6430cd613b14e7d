#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "holdfast/store/blocked_caller.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/time.hpp"

namespace holdfast::transport {

// Who reads a connection that many threads share.
//
// One thread reads at a time and hands out everybody's replies. A caller that waits for an answer
// anyway does it best: its answer then costs no change of threads. It leads until its own answer is
// there, and the right to read, the role, goes on to another caller that waits, else to the loop.
//
//   nobody    there is nothing to read from
//   loop      the loop watches the descriptor and comes to read when there is something
//   turn      the loop is reading just now
//   caller    a blocked caller, the leader, sits in read_once()
//
//   event                      in nobody   in loop            in turn            in caller
//   open()                     -> loop     stays              stays              stays
//   drive(), answer not there  wait        -> caller, leads   wait               wait
//   loop_turn()                ignored     -> turn, reads     (the same thread)  ignored
//   turn is over               -           -                  -> loop, nudge     -
//   leader done, or too late   -           -                  -                  -> loop, nudge
//   read_once() says false     -           -                  -> nobody, ended   -> nobody, ended
//   interrupt(leader)          -           -                  -                  leader looks up
//   shut()                     stays       -> nobody          waits, -> nobody   waits, -> nobody
//
//   wait    drive() answers false: the caller parks, and is noted as a candidate for the role.
//   nudge   One candidate whose answer is still open is woken, and will come to drive().
//
// Guarantees   The role is never lost: it goes to the loop before a candidate is nudged, and the
//              candidate takes it from there when it comes. One that does not come (its answer
//              arrived by another route in the same moment) costs nothing, and the next turn of the
//              loop nudges another. A candidate that was nudged and is on its way keeps the others
//              asleep. A caller that has gone is never touched: candidates are held weakly.
// Duty         Whoever makes a caller's done() true calls interrupt() for it afterwards. The leader
//              notices what it hands out itself, but not what arrives by another route while it
//              sits in read_once(): a deadline that a timer noticed, a lock handed on by another
//              thread, an answer on another connection.
// Blocking     drive() while it leads; shut() until the reader has left. Nothing else.
// Threads      All members from any thread, except that drive() does not belong inside read_once(),
//              and shut() there does not wait for its own thread. Callers' functions run outside
//              the role's mutex.
// Lifetime     Destroy it after shut(), when no member function is running.
class ReadRole {
 public:
  // What a transport does for the role.
  class Connection {
   public:
    // Waits for input, for interrupt() or until `until` has come (not at all if it has), reads what
    // is there and hands out every reply that is complete: what stays in a buffer of the
    // transport's own would wake nobody. It may return early for no reason. False: there is nothing
    // to read from any more. The transport has answered all open questions by then, and leaves the
    // descriptor open until ended(): whoever finds a connection broken while writing only calls
    // shutdown(2) on it, and the reader will see.
    virtual bool read_once(TimePoint until) = 0;

    // Makes read_once() return: the one that is running, else the next one. Any thread.
    virtual void interrupt() = 0;

    // Loop::watch_fd for input, or the end of it. Runs under the role's mutex, so that on and off
    // keep their order: it must not come back to the role. If there is no memory for `on` it throws, and
    // is called again.
    virtual void let_loop_watch(bool on) = 0;

    // After read_once() said false: nobody reads, and nobody will before open(). The time to close
    // the descriptor, on the thread that was reading. Must not throw.
    virtual void ended() = 0;

   protected:
    ~Connection() = default;
  };

  ReadRole(Connection&, const store::Clock&);
  ReadRole(const ReadRole&) = delete;
  ReadRole& operator=(const ReadRole&) = delete;

  // There is something to read from, for the first time or again after ended(). Throws std::bad_alloc if that
  // cannot be watched: then it was not called.
  void open();

  // Store::drive(). True if it led, or need not: look whether the answer is there, else come again.
  // False: park.
  bool drive(const std::shared_ptr<store::BlockedCaller>&);

  // The loop calls this when the descriptor is ready.
  void loop_turn();

  // The caller is done: if it leads, let it look. See Duty.
  void interrupt(const store::BlockedCaller&);

  // The end. When it returns nobody reads, and nobody will.
  void shut();

  enum class Reader : std::uint8_t { nobody, loop, turn, caller };
  Reader reader() const;

 private:
  using Candidate = std::weak_ptr<store::BlockedCaller>;
  class Reading;

  bool try_lead(const std::shared_ptr<store::BlockedCaller>&);
  void note_candidate(const std::shared_ptr<store::BlockedCaller>&);
  bool may_lead(const store::BlockedCaller&) const;
  void hand_back(bool alive);
  void nudge_one(std::unique_lock<std::mutex>&);
  void watch(bool on);

  Connection& connection_;
  const store::Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable left_;
  Reader reader_ = Reader::nobody;
  const store::BlockedCaller* leader_ = nullptr;  // only compared, never followed
  std::set<Candidate, std::owner_less<Candidate>> candidates_;
  std::size_t sweep_at_ = 64;  // how many candidates there may be before the dead are looked for
  Candidate nudged_;           // woken and on its way
  bool watched_ = false;       // what let_loop_watch() was told last
  int inside_ = 0;             // threads that are reading, or about to return from it
  std::atomic<bool> shut_{false};
};

}  // namespace holdfast::transport
