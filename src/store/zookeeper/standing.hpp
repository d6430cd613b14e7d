#pragma once

#include <deque>
#include <optional>

#include "holdfast/time.hpp"

namespace holdfast::store::zookeeper {

// Until when our session certainly lives, by our own clock and by what has been answered.
//
// The leader ends a session one timeout T after it last heard of it. It hears of it when a client opens a
// connection, for that is passed on to it, and by its followers: each knows who has spoken to it, and reports
// that with every ping of the leader's, which come every half tick, T/4 or more often. Questions that a follower
// passes on are no news of the session. A new leader gives every session its whole T anew, from when it began.
//
// Who is the leader, only a majority can say: one that was deposed and has not heard of it goes on answering reads,
// pings and syncs, and takes in those whom it knows. But what a majority agreed to was agreed to before any later leader
// began. So two times count, and the earlier one is the end:
//
//   1. T after the leader heard of us. It did so after the sending of the hello that began the session, which a
//      majority agrees to. If something else was agreed to over a connection, then its leader was the leader still,
//      and had heard the hello that opened that connection; and if something we sent was answered, and what was
//      agreed to left a report's time (T/4) after that answer, then the report was before it on the same way, and
//      the leader heard of us after the sending of the first.
//   2. T/2 after the sending of the last question that was agreed to.
//
//   That anything was agreed to is not enough: the report may be lost right behind it, and the session ends
//   as if we had said nothing since the one before (the client paused, say, and has only just asked).
//
// From that is taken what clocks may differ by. All this needs a T of at least two ticks, which servers grant
// unless minSessionTimeout was lowered.
//
// Threads      One at a time.
class Standing {
 public:
  // A connection was opened, with a hello of that time, by a server that granted this timeout: to a new session, or
  // the session goes on.
  void begins(TimePoint sent, Duration timeout);
  void goes_on(TimePoint sent, Duration timeout);
  // An answer over that connection, of the server's or of a majority.
  void answered(TimePoint sent, TimePoint now);
  void agreed(TimePoint sent, TimePoint now);
  // The connection broke. What is known is still known.
  void broke();
  // The session is over.
  void end();

  TimePoint valid_until() const;  // in the past if nothing is known

 private:
  struct Contact {
    TimePoint sent;
    TimePoint answered;
  };

  void note(Contact);

  Duration timeout_{};               // the least that was granted to this session
  std::optional<TimePoint> heard_;   // the leader has heard of us since
  std::optional<TimePoint> agreed_;  // the sending of the last question that was agreed to
  // The sending of the hello that opened this connection, if nothing was agreed to over it.
  std::optional<TimePoint> hello_;
  std::deque<Contact> contacts_;  // over it, not known to be reported
};

}  // namespace holdfast::store::zookeeper
