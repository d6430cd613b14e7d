#pragma once

#include <cstdint>
#include <optional>

#include "cli/descriptor.hpp"

namespace holdfast::cli {

// What `run` tells its guardian.
struct Instruction {
  enum class What : std::int64_t {
    signal,  // value: send this signal to the job's process group
    until,   // value: the lock is held until then, nanoseconds of CLOCK_BOOTTIME
    lost,    // the lock is not held any more: end the job
  };
  What what{};
  std::int64_t value = 0;
};

// What the guardian tells `run`.
struct News {
  enum class What : std::int64_t {
    started,      // value: the job's pid, which is its process group, too
    not_forked,   // value: errno of what the system refused
    not_started,  // value: errno of execvp()
    stopped,      // value: the signal that stopped the job
    continued,
    ended,        // value: the job's wait status
    left_behind,  // value: how many processes of its group go on
    expired,      // the last `until` has passed: the job is being ended
    gone,         // nothing is left; the guardian exits
  };
  What what{};
  std::int64_t value = 0;
};

// The two ends of a socket that keeps messages whole. If one process dies the other one reads an end.
template <class Sent, class Received>
class Link {
 public:
  explicit Link(Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }
  bool broken() const { return broken_; }
  // Never waits: who is stopped does not read, and the other side has better things to do.
  bool send(const Sent&);
  // Only if the other side has read most of what it was sent: for news of which there may be many.
  bool send_if_heard(const Sent&);
  // Nothing: none is there now, or the other side is gone; see broken().
  std::optional<Received> receive();

 private:
  Descriptor socket_;
  bool broken_ = false;
};

using GuardLink = Link<News, Instruction>;  // the guardian's end
using RunLink = Link<Instruction, News>;    // run's end

}  // namespace holdfast::cli
