#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.hpp"
#include "holdfast/store/factory.hpp"
#include "store/zookeeper/address.hpp"
#include "store/zookeeper/answers.hpp"
#include "store/zookeeper/dial.hpp"
#include "store/zookeeper/jute.hpp"
#include "store/zookeeper/leavings.hpp"
#include "store/zookeeper/messages.hpp"
#include "store/zookeeper/standing.hpp"
#include "store/zookeeper/tree.hpp"
#include "store/zookeeper/watch_book.hpp"
#include "transport/loop_tasks.hpp"
#include "transport/redialler.hpp"
#include "transport/shared_connection.hpp"

namespace holdfast::store::zookeeper {

class Question;

// A client's session with the servers, over one connection at a time.
//
//                       connected                       not connected
//   a question          is sent                         fails at once, as not executed
//   the beat, T/6       a proof if somebody holds or    nothing
//                       waits (agreement()), else
//                       every other time a ping;
//                       deletes that are due
//   an answer is late   a ping: see Nudge                nothing
//   silence             hangs up
//   the stream ends     -> not connected, dials: another server first
//   a server welcomes   –                               -> connected. Watches are set again before any
//   the same session                                    question; then a proof as with the beat, and deletes
//   it has ended        –                               the listener is told; a new one is opened
//   nobody welcomes us  –                               a new one is tried as well: the servers may
//   for longer than T                                   have lost what we have seen
//   close()             says goodbye, so that our nodes go at once, and waits for the answer a moment
//
// Silence is nothing at all from a server to which something was said, for T/3. If somebody holds or waits, for T/6:
// then a sixth is left to be welcomed elsewhere before what is held has to count as lost (Standing). But not
// before half a second unless that is T/3: servers are busy for so long now and then.
//
// Nudge. Servers from 3.6 to 3.8.0 may leave a committed change lying, answers and all, until the next word of any
// client's (ZOOKEEPER-4537); on a quiet server that would be the next beat. So a ping follows what is not answered soon.
//
// Threads      All members from any thread; close() not on the loop.
class Session final : public Tree, transport::Language {
 public:
  // On error     As dial(), or unavailable if this process has no descriptors left.
  // Blocking     Until there is a session, or for Address::connect_within.
  static Result<std::unique_ptr<Session>> open(Address, const Surroundings&);
  ~Session() override;

  const Address& address() const { return address_; }

  void listen(Listener&) override;
  void ask(std::vector<Request>, TimePoint deadline, bool waits, std::int64_t only_in,
           std::function<void(Outcome)>) override;
  void ask_as_one(std::vector<Request>, TimePoint deadline, bool waits, std::int64_t only_in,
                  std::function<void(Outcome)>) override;
  void remove_for_sure(std::string path, std::int64_t session, std::function<void()> done) override;
  void leave_watch(const std::string& path) override;
  void keep_valid(bool wanted) override;
  std::int64_t session() const override;
  std::uint64_t connection() const override;
  TimePoint valid_until() const override;
  Duration timeout() const override;
  bool drive(const std::shared_ptr<BlockedCaller>& caller) override {
    return shared_.drive(caller);
  }
  void interrupt(const BlockedCaller& caller) override { shared_.interrupt(caller); }
  void close() override;

 private:
  // What a question is sent with.
  struct Way {
    std::int64_t session = 0;
    std::uint64_t stream = 0;
    std::int32_t xid = 0;
    TimePoint now{};

    Answers answers() const { return {.session = session, .connection = stream}; }
  };

  Session(Address, const Surroundings&);
  bool complete() const { return redialler_.complete() && shared_.complete(); }

  std::string begun(std::uint64_t stream) override;
  void feed(std::string_view bytes) override;
  Next next() override;
  bool answer(transport::Asker&) override;
  void ended() override;
  std::string server() const override;
  std::string_view name() const override { return "ZooKeeper"; }

  Result<std::unique_ptr<transport::Stream>> redial(TimePoint until, int give_up);

  void begin(Dialled);
  Way way(std::size_t questions);
  bool tell(std::string_view firing);
  void pinged();
  void watches_set(const AnswerHead&);
  void refuse(Question&, std::int32_t raw);
  void note(const Question&, const AnswerHead&);

  void beat();
  void beat_later();
  void nudge();
  void nudge_at(TimePoint);
  Duration patience() const;
  void speak_first();
  void send_proof();
  void send_ping();
  void send_leavings();
  void send_leaving(const std::string& path, std::int64_t session);
  void leaving_answered(const std::string& path, const Outcome&);
  void end_session();
  void say_goodbye();

  const Address address_;
  const Clock& clock_;
  Random& random_;
  const Owners owners_;

  // Only the reader's.
  FrameReader reader_;
  AnswerHead head_;        // of the answer to be handed out
  std::string_view body_;  // in reader_
  bool cut_ = false;

  mutable std::mutex mutex_;  // nothing is called while it is held
  Listener* listener_ = nullptr;
  Credentials credentials_;
  Standing standing_;
  std::optional<Dialled> dialled_;  // without its stream: what the next one has begun with
  std::size_t endpoint_ = kNoneYet;
  Duration timeout_{};        // of the session: the least that was granted to it, as in standing_
  std::uint64_t stream_ = 0;  // the last one that has begun
  bool connected_ = false;
  bool lacks_watches_ = false;
  TimePoint ended_at_{};  // that stream
  std::int32_t last_xid_ = 0;
  std::optional<TimePoint> waits_since_;  // for a word of the server's
  std::deque<TimePoint> pings_;           // without an answer
  WatchBook watches_;
  Leavings leavings_;
  bool kept_valid_ = false;
  bool even_beat_ = false;
  bool beats_ = false;  // there is a timer for the next one
  bool nudges_ = false;
  std::optional<TimePoint> nudged_for_;  // waits_since_ of what was nudged
  bool closing_ = false;

  const transport::LoopTasks tasks_;
  transport::Redialler redialler_;
  transport::SharedConnection shared_;
};

}  // namespace holdfast::store::zookeeper
