#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "support/net/rules.hpp"

namespace holdfast::test {

// Bytes of one direction.
struct Traffic {
  std::uint64_t came = 0;    // read from the sender
  std::uint64_t passed = 0;  // written to the receiver
  std::uint64_t writes = 0;  // in so many writes

  Traffic& operator+=(const Traffic& more) {
    came += more.came;
    passed += more.passed;
    writes += more.writes;
    return *this;
  }
};

// One direction of one connection: what came, and when which part of it may pass. It reads no clock
// and knows no socket.
//
//   event            then
//   take(bytes)      they may pass delay and jitter later, behind all that came before
//   end()            the end may pass likewise, behind them
//   set(rules)       hold, chunk, pause and break_after apply to what is there already; delay,
//                    jitter, drop and rewrite to what comes
class Pipe {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever = Time::max();

  Pipe(Rules rules, std::uint64_t seed) : rules_(std::move(rules)), random_(seed) {}

  void set(Rules rules) { rules_ = std::move(rules); }
  void set_hold(bool hold) { rules_.hold = hold; }

  void take(std::string bytes, Time now);
  void end(Time now);
  bool ended() const { return ended_; }

  std::string_view ready(Time now) const;  // what may be written now; empty if nothing
  void written(std::size_t count, Time now);
  bool may_close(Time now) const;  // all was written, and now the end may pass
  void closed() { closed_ = true; }
  Time due() const;  // when one of the two has something to do; kNever: not by itself

  bool over() const { return closed_; }
  bool broken() const;  // Rules::break_after is reached
  std::size_t kept() const { return kept_; }
  const Traffic& traffic() const { return traffic_; }

 private:
  struct Batch {
    std::string bytes;
    std::size_t passed;  // of them
    Time due;
  };

  Time later(Time now);

  Rules rules_;
  std::mt19937_64 random_;
  std::deque<Batch> batches_;
  Time last_due_ = Time::min();
  Time next_write_ = Time::min();
  std::size_t kept_ = 0;
  bool ended_ = false;
  bool closed_ = false;
  Traffic traffic_;
};

}  // namespace holdfast::test
