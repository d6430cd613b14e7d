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
// passes on are no news of the session. So two times count, and the earlier one is the end:
//
//   1. T after the leader heard of us. It did so after the sending of the hello that opened the connection.
//      And if something we sent was answered, and another question left a report's time (T/4) after that
//      answer, and the leader answered that one over the same connection: then the report was before it on
//      the same way, and the leader heard of us after the sending of the first.
//   2. T/2 after the sending of the last question that the leader answered. A follower that is cut off from
//      it goes on answering all others.
//
//   The leader's answer to anything is not enough: the report may be lost right behind it, and the session ends
//   as if we had said nothing since the one before (the client paused, say, and has only just asked).
//
// From that is taken what clocks may differ by. All this needs a T of at least two ticks, which servers grant
// unless minSessionTimeout was lowered.
//
// Threads      One at a time.
class Standing {
 public:
  // A connection was opened, with a hello of that time, in a session with this timeout: a new one after
  // end(), else the same as before.
  void opened(TimePoint sent, Duration timeout);
  // An answer over that connection, of the server's or of the leader's own.
  void answered(TimePoint sent, TimePoint now);
  void leader_answered(TimePoint sent, TimePoint now);
  // The connection broke. What is known is still known.
  void broke() { contacts_.clear(); }
  // The session is over.
  void end() { *this = Standing(); }

  TimePoint valid_until() const;  // in the past if nothing is known
  Duration timeout() const { return timeout_; }

 private:
  struct Contact {
    TimePoint sent;
    TimePoint answered;
  };

  void note(Contact);

  Duration timeout_{};
  std::optional<TimePoint> heard_;   // the leader has heard of us since
  std::optional<TimePoint> answer_;  // the sending of the last question that it answered
  std::deque<Contact> contacts_;     // over this connection, not known to be reported
};

}  // namespace holdfast::store::zookeeper
