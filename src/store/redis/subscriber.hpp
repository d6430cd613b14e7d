#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/task.hpp"
#include "holdfast/time.hpp"
#include "store/redis/resp.hpp"
#include "transport/loop_tasks.hpp"
#include "transport/redialler.hpp"
#include "transport/stream.hpp"

namespace holdfast::store::redis {

// Listens to channels, over a connection of its own that lives on the loop. There is none before somebody
// wants to listen.
//
// Guarantees   `stands` is called for a channel when the server has confirmed it, also again after each
//              new connection, and when it is wanted again before it was left: what was said before that
//              was not heard. A channel that nobody wants any more is left after a few seconds, since most
//              are wanted again, unless it has to be at once.
// On error     want() and when_known() throw std::bad_alloc if they have done nothing. All else that lacks memory
//              counts as a connection that broke, or is done a few seconds later.
// Silence      The server is pinged now and then; if it says nothing at all, another connection is made.
// Threads      All members from any thread. The functions are called on the loop, with no lock held.
class Subscriber final : Loop::Ready {
 public:
  struct Parts {
    const Clock& clock;
    Loop& loop;
    transport::Redialler& redialler;
    std::function<void(const std::string& channel, const std::string& message)> heard;
    std::function<void(const std::string& channel)> stands;
  };
  explicit Subscriber(Parts);
  ~Subscriber() { close(); }

  // Counted: as often as it was wanted it has to be given up.
  void want(const std::string& channel);
  void give_up(const std::string& channel);
  void leave(const std::string& channel);  // as give_up(), and at once if nobody else wants it
  bool stands(const std::string& channel) const;  // the server has confirmed it
  // Why the server does not let us listen; empty if it has not said so.
  std::string refusal() const;
  // Calls it when the server has said one or the other of a channel that is wanted, at `until` at the latest;
  // not at all after close().
  void when_known(const std::string& channel, TimePoint until, Task);
  void close();

 private:
  void on_ready(std::uint32_t) override;
  void or_hang_up(void (Subscriber::*step)());
  void catch_up();
  void catch_up_soon();
  void catch_up_sometime();
  bool anybody_wants() const;
  void sweep();
  void dial();
  void use(std::unique_ptr<transport::Stream>);
  void begin();
  void send();
  void send_later();
  void read();
  void listen(const Reply&);
  void hang_up();
  void tick();
  void tell_askers();
  void join_and_leave(std::set<std::string>& anew);

  const Parts parts_;
  const transport::LoopTasks tasks_;

  // Only the loop's.
  std::unique_ptr<transport::Stream> stream_;
  bool dialling_ = false;
  bool ticking_ = false;
  bool sweeping_ = false;
  std::set<std::string> joined_;  // asked for over this stream
  std::string out_;
  bool half_sent_ = false;  // the stream may have more that is to go
  bool sending_later_ = false;
  ReplyReader reader_;
  transport::ShortLives lives_;
  int failures_ = 0;  // streams before the next one that did not last
  struct Asking {
    std::string channel;
    TimePoint until;
    Task then;
  };
  std::list<Asking> asking_;
  TimePoint heard_at_{};
  TimePoint pinged_at_{};

  mutable std::mutex mutex_;
  bool closed_ = false;
  bool catching_up_ = false;           // a task is on its way
  std::map<std::string, int> wanted_;  // 0: may be wanted again
  std::set<std::string> anew_;         // of these, since the last time it was caught up
  std::set<std::string> standing_;
  std::string refusal_;
};

}  // namespace holdfast::store::redis
