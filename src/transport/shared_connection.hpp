#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/store/blocked_caller.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/store/replies.hpp"
#include "holdfast/time.hpp"
#include "transport/fd.hpp"
#include "transport/loop_tasks.hpp"
#include "transport/read_role.hpp"
#include "transport/redialler.hpp"
#include "transport/stream.hpp"

namespace holdfast::transport {

// Who waits for the answer to a question. Answered (by its language) or failed, exactly once, on any thread,
// with no lock of the connection's held; then it is destroyed.
class Asker {
 public:
  // `waits`: its thread comes to drive() next.
  explicit Asker(TimePoint deadline, bool waits = false) : deadline_(deadline), waits_(waits) {}
  virtual ~Asker() = default;
  virtual void failed(store::NoAnswer) = 0;
  TimePoint deadline() const { return deadline_; }
  bool waits() const { return waits_; }

 private:
  friend class SharedConnection;
  TimePoint deadline_;
  bool waits_;
  bool more_follow_ = false;  // of those that were asked together
};

// What is spoken over a SharedConnection: cuts what comes into answers, and says what goes first.
//
// On error     All may throw std::bad_alloc, which ends the stream; ended() is then called again, and begun()
//              with another stream.
// Threads      One thread at a time calls these, any one, with no lock of the connection's held. They may
//              ask and hang up, but not close.
class Language {
 public:
  // There is a new stream, the first one or one after ended() or after a begun() that threw, and nothing has come
  // over it. What is returned is sent before anybody's question, and what the server says to it answers none.
  // Questions fail until this has returned.
  virtual std::string begun(std::uint64_t stream) = 0;

  virtual void feed(std::string_view bytes) = 0;
  // Goes on to the next answer. What nobody asked for is dealt with inside and passed over. `broken`: what
  // came makes no sense.
  enum class Next : std::uint8_t { answer, nothing_yet, broken };
  virtual Next next() = 0;
  // Hands that answer to the oldest question. False: it is not the answer to this one, which then fails. So does
  // one whose answer throws std::bad_alloc, which must not be thrown once it is answered.
  virtual bool answer(Asker&) = 0;

  // The stream has ended, and there will be another one. Questions fail from now on; those that are open do
  // so right after this. Not called for close().
  virtual void ended() {}

  // For people: the server at the other end, and what it should speak.
  virtual std::string server() const = 0;
  virtual std::string_view name() const = 0;

 protected:
  ~Language() = default;
};

// The one connection over which all callers of a client send their questions. Answers come in the order
// of the questions, so one that is late is still the answer to its own question and to no other.
//
// Guarantees   A question that is asked while there is no connection fails at once, as not executed, and
//              as Errc::permission if we are not let in any more. One that was sent and has no answer when
//              the connection breaks fails as perhaps executed; it is never sent a second time. Questions
//              that are asked together leave back to back, or none of them does.
// On error     ask() throws std::bad_alloc if it has taken no asker. All else that lacks memory is done as soon as
//              there is some, or counts as a connection that broke.
// Silence      If the oldest question has had no answer for a second after its deadline, the connection
//              counts as dead, and another one is made.
// Threads      All members from any thread. Writers do not wait for each other: whoever comes while
//              another one is writing, or is handing out answers, leaves its words to that one.
// Lifetime     begin() once. close() before the destructor, not from inside an answer; then the language is
//              left alone.
class SharedConnection final : ReadRole::Connection, store::Loop::Ready {
 public:
  struct Parts {
    Language& language;
    const store::Clock& clock;
    store::Loop& loop;
    Redialler& redialler;
    // The server may say something that nobody asked for, and it must be heard at once. Otherwise the loop
    // listens a moment later, which saves two system calls for each question of a single caller.
    bool hears_unasked = false;
  };
  static constexpr std::uint64_t kAnyStream = 0;

  explicit SharedConnection(const Parts&);
  ~SharedConnection() override;

  // False: no descriptor was left for it. It must not be used.
  bool complete() const { return static_cast<bool>(interrupted_); }

  // Over a stream that has been dialled already.
  void begin(std::unique_ptr<Stream>);
  // `bytes` are all these questions as they go over the wire; the askers are taken. `over`: if another stream
  // has begun by now, they fail as not executed.
  void ask(std::string bytes, std::span<std::unique_ptr<Asker>>, std::uint64_t over = kAnyStream);
  bool drive(const std::shared_ptr<store::BlockedCaller>& caller) { return role_.drive(caller); }
  void interrupt(const store::BlockedCaller& caller) { role_.interrupt(caller); }
  // This stream is no good: what is open fails, and another one is dialled.
  void hang_up();
  void close();

 private:
  bool read_once(TimePoint until) override;
  void interrupt() override;
  void let_loop_watch(bool on) override;
  void ended() override;
  void on_ready(std::uint32_t) override { role_.loop_turn(); }

  class Gathering;

  std::optional<store::NoAnswer> objection(std::uint64_t over) const;
  void flush_unless_others_will(std::unique_lock<std::mutex>&);
  void flush(std::unique_lock<std::mutex>&);
  Stream::Went write_out(std::unique_lock<std::mutex>&);
  void flush_later();
  void watch(bool on);
  void watch_if_idle();
  enum class Heard : std::uint8_t { well, the_end, nonsense };
  Heard hear();
  bool hand_out();
  bool answer(Asker&);
  static void fail(Asker&, const store::NoAnswer&);
  store::NoAnswer broke() const;
  store::NoAnswer not_understood() const;
  std::deque<std::unique_ptr<Asker>> disconnect(const std::string& why);
  void redial();
  void replace(std::unique_ptr<Stream>);
  void use(std::unique_ptr<Stream>);
  void watch_silence();
  void look_for_silence();

  const Parts parts_;
  const Fd interrupted_;  // eventfd
  const LoopTasks tasks_;

  ShortLives lives_;  // only the loop's

  std::string input_;  // only the reader's

  std::mutex mutex_;
  std::unique_ptr<Stream> stream_;  // replaced only while nobody reads or writes
  std::uint64_t number_ = 0;        // of this stream
  bool connected_ = false;
  bool closed_ = false;
  bool writing_ = false;  // a thread is in Stream::write()
  bool flush_waits_ = false;
  bool gathering_ = false;  // the reader is handing out, and will send what is asked meanwhile
  bool silence_watched_ = false;
  bool loop_reads_ = false;     // if anybody
  bool watched_ = false;        // what the loop was told
  bool watched_later_ = false;  // a timer will see to it
  bool used_ = false;           // since that timer was set
  store::NoAnswer why_not_{Errc::unavailable, false, "there is no connection yet"};
  std::string out_;                          // not written yet
  bool half_sent_ = false;                   // the stream may have more that is to go
  std::deque<std::unique_ptr<Asker>> open_;  // in the order of sending

  ReadRole role_;
};

}  // namespace holdfast::transport
