#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "holdfast/store/blocked_caller.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/store/replies.hpp"
#include "holdfast/time.hpp"
#include "store/redis/address.hpp"
#include "store/redis/resp.hpp"
#include "transport/fd.hpp"
#include "transport/loop_tasks.hpp"
#include "transport/read_role.hpp"
#include "transport/redialler.hpp"
#include "transport/stream.hpp"

namespace holdfast::store::redis {

// Who waits for the answer to a question. Answered or failed, exactly once, on any thread, with no lock
// of the connection's held; then it is destroyed.
class Asker {
 public:
  // `waits`: its thread comes to drive() next.
  explicit Asker(TimePoint deadline, bool waits = false) : deadline_(deadline), waits_(waits) {}
  virtual ~Asker() = default;
  virtual void answered(Reply) = 0;
  virtual void failed(NoAnswer) = 0;
  TimePoint deadline() const { return deadline_; }
  bool waits() const { return waits_; }

 private:
  TimePoint deadline_;
  bool waits_;
};

// The one connection over which all callers of a client send their questions. Answers come in the order
// of the questions, so one that is late is still the answer to its own question and to no other.
//
// Guarantees   A question that is asked while there is no connection fails at once, as not executed, and
//              as Errc::permission if we are not let in any more. One that was sent and has no answer when
//              the connection breaks fails as perhaps executed; it is never sent a second time.
// Silence      If the oldest question has had no answer for a second after its deadline, the connection
//              counts as dead, and another one is made.
// Threads      All members from any thread. Writers do not wait for each other: whoever comes while
//              another one is writing, or is handing out answers, leaves its words to that one.
// Lifetime     close() before the destructor, not from inside an answer.
class Connection final : transport::ReadRole::Connection, Loop::Ready {
 public:
  struct Parts {
    const Address& address;
    const Clock& clock;
    Loop& loop;
    transport::Redialler& redialler;
  };
  // Over a stream that has been dialled already.
  Connection(const Parts&, std::unique_ptr<transport::Stream>);
  ~Connection();

  // False: no descriptor was left for it. It must not be used.
  bool complete() const { return static_cast<bool>(interrupted_); }

  void ask(std::span<const std::string> words, std::unique_ptr<Asker>);
  bool drive(const std::shared_ptr<BlockedCaller>& caller) { return role_.drive(caller); }
  void interrupt(const BlockedCaller& caller) { role_.interrupt(caller); }
  void close();

 private:
  bool read_once(TimePoint until) override;
  void interrupt() override;
  void let_loop_watch(bool on) override;
  void ended() override;
  void on_ready(std::uint32_t) override { role_.loop_turn(); }

  class Gathering;

  void flush_unless_others_will(std::unique_lock<std::mutex>&);
  void flush(std::unique_lock<std::mutex>&);
  void flush_later();
  void watch(bool on);
  void watch_if_idle();
  bool hand_out();
  void fail_all(NoAnswer);
  void redial();
  void use(std::unique_ptr<transport::Stream>);
  void watch_silence();
  void look_for_silence();

  const Parts parts_;
  const transport::Fd interrupted_;  // eventfd
  const transport::LoopTasks tasks_;

  transport::ShortLives lives_;  // only the loop's

  // Only the reader's.
  ReplyReader reader_;
  std::string input_;

  std::mutex mutex_;
  std::unique_ptr<transport::Stream> stream_;  // replaced only while nobody reads or writes
  bool connected_ = true;
  bool closed_ = false;
  bool writing_ = false;  // a thread is in Stream::write()
  bool flush_waits_ = false;
  bool gathering_ = false;  // the reader is handing out, and will send what is asked meanwhile
  bool silence_watched_ = false;
  bool loop_reads_ = false;                  // if anybody
  bool watched_ = false;                     // what the loop was told
  bool watched_later_ = false;               // a timer will see to it
  bool used_ = false;                        // since that timer was set
  NoAnswer why_not_{};                       // there is no connection
  std::string out_;                          // not written yet
  bool half_sent_ = false;                   // the stream may have more that is to go
  std::deque<std::unique_ptr<Asker>> open_;  // in the order of sending

  transport::ReadRole role_;
};

}  // namespace holdfast::store::redis
