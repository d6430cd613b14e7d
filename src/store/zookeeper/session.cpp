#include "store/zookeeper/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "store/zookeeper/question.hpp"

namespace holdfast::store::zookeeper {
namespace {

using namespace std::chrono_literals;
using transport::Patience;

constexpr Duration kGoodbye = 1s;
constexpr Duration kNudgeAfter = 50ms;
constexpr int kNobodyGivesUp = -1;

}  // namespace

Session::Session(Address address, const Surroundings& around)
    : address_(std::move(address)),
      clock_(around.clock),
      random_(around.random),
      owners_(address_.user.empty() ? Owners::anyone : Owners::ourselves),
      tasks_(around.loop),
      redialler_({.dial = [this](TimePoint until, int give_up) { return redial(until, give_up); },
                  .within = address_.connect_within,
                  .clock = around.clock,
                  .loop = around.loop,
                  .random = around.random}),
      shared_({.language = *this,
               .clock = around.clock,
               .loop = around.loop,
               .redialler = redialler_,
               .hears_unasked = true}) {}

Session::~Session() { Session::close(); }

Result<std::unique_ptr<Session>> Session::open(Address address, const Surroundings& around) {
  std::unique_ptr<Session> session(new Session(std::move(address), around));
  if (!session->complete()) {
    return Error(Errc::unavailable,
                 "this process has no descriptors left for a client of ZooKeeper");
  }
  const TimePoint until = later(around.clock.now(), session->address_.connect_within);
  auto dialled = dial(session->address_, {}, Patience{around.clock, until, kNobodyGivesUp},
                      around.random, kNoneYet);
  if (!dialled) return dialled.error();
  session->begin(std::move(*dialled));
  return session;
}

void Session::begin(Dialled dialled) {
  auto stream = std::move(dialled.stream);
  {
    const std::lock_guard lock(mutex_);
    dialled_ = std::move(dialled);
  }
  shared_.begin(std::move(stream));
  const std::lock_guard lock(mutex_);
  beat_later();
}

void Session::listen(Listener& listener) {
  const std::lock_guard lock(mutex_);
  listener_ = &listener;
}

// --- questions ---

Session::Way Session::way(std::size_t questions) {
  const std::lock_guard lock(mutex_);
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (static_cast<std::size_t>(last_xid_) > kMost - questions) last_xid_ = 0;
  const Way way{.session = credentials_.session,
                .stream = stream_,
                .xid = last_xid_ + 1,
                .now = clock_.now()};
  last_xid_ += static_cast<std::int32_t>(questions);
  if (!waits_since_) waits_since_ = way.now;
  if (!beats_ && connected_) beat_later();
  if (!nudges_ && connected_) nudge_at(later(way.now, kNudgeAfter));
  return way;
}

void Session::ask(std::vector<Request> requests, TimePoint deadline, bool waits,
                  std::int64_t only_in, std::function<void(Outcome)> done) {
  Way way = this->way(requests.size());
  if (only_in != 0 && only_in != way.session) {
    return done(NoAnswer{Errc::unavailable, false, "the session has ended"});
  }
  const auto batch = std::make_shared<Batch>(std::move(requests), way.answers(), std::move(done));
  std::string bytes;
  std::vector<std::unique_ptr<transport::Asker>> askers;
  for (std::size_t i = 0; i < batch->requests().size(); ++i, ++way.xid) {
    const std::size_t begin = bytes.size();
    append_question(bytes, way.xid, batch->requests()[i], owners_);
    if (bytes.size() - begin > kLongestQuestion) {
      bytes.resize(begin);
      batch->replies()[i].code = Code::too_large;
      continue;
    }
    askers.push_back(std::make_unique<Question>(
        batch, i,
        Question::Terms{.xid = way.xid, .sent = way.now, .deadline = deadline, .waits = waits}));
  }
  batch->expect(askers.size());
  if (!askers.empty()) shared_.ask(std::move(bytes), askers, way.stream);
}

void Session::ask_as_one(std::vector<Request> requests, TimePoint deadline, bool waits,
                         std::int64_t only_in, std::function<void(Outcome)> done) {
  const Way way = this->way(1);
  if (only_in != 0 && only_in != way.session) {
    return done(NoAnswer{Errc::unavailable, false, "the session has ended"});
  }
  const auto batch = std::make_shared<Batch>(std::move(requests), way.answers(), std::move(done));
  std::string bytes;
  append_question(bytes, way.xid, batch->requests(), owners_);
  if (bytes.size() > kLongestQuestion) {
    for (Reply& each : batch->replies()) each.code = Code::too_large;
    return batch->expect(0);
  }
  batch->expect(1);
  std::unique_ptr<transport::Asker> asker = std::make_unique<Question>(
      batch, Question::kAll,
      Question::Terms{.xid = way.xid, .sent = way.now, .deadline = deadline, .waits = waits});
  shared_.ask(std::move(bytes), std::span(&asker, 1), way.stream);
}

void Session::leave_watch(const std::string& path) {
  const std::lock_guard lock(mutex_);
  watches_.left(path);
}

// --- what is to go ---

void Session::remove_for_sure(std::string path, std::int64_t session, std::function<void()> done) {
  std::unique_lock lock(mutex_);
  if (session == 0 || session != credentials_.session) {
    lock.unlock();
    if (done) done();
    return;
  }
  const bool now = leavings_.add(path, std::move(done));
  lock.unlock();
  if (now) send_leaving(path, session);
}

void Session::send_leaving(const std::string& path, std::int64_t session) {
  try {
    ask({{.op = Op::remove, .path = path}}, later(clock_.now(), timeout() / 3), false, session,
        [this, path](const Outcome& outcome) { leaving_answered(path, outcome); });
  } catch (const std::bad_alloc&) {  // with the next beat, then
    const std::lock_guard lock(mutex_);
    leavings_.again(path);
  }
}

void Session::leaving_answered(const std::string& path, const Outcome& outcome) {
  std::vector<Leavings::Done> told;
  {
    const std::lock_guard lock(mutex_);
    const auto* const answers = std::get_if<Answers>(&outcome);
    const Code code = answers == nullptr ? Code::other : answers->replies.front().code;
    if (code == Code::ok || code == Code::no_node) {
      told = leavings_.gone(path);
    } else {
      leavings_.again(path);
    }
  }
  for (const auto& each : told) each();
}

void Session::send_leavings() {
  std::vector<std::string> paths;
  std::int64_t session = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!connected_) return;
    paths = leavings_.due();
    session = credentials_.session;
  }
  for (const std::string& path : paths) send_leaving(path, session);
}

// --- the beat ---

// Under mutex_. Where there is no memory for it, the next question sees to it.
void Session::beat_later() {
  try {
    tasks_.call_at(later(clock_.now(), timeout_ / 6), [this] { beat(); });
    beats_ = true;
  } catch (const std::bad_alloc&) {
    beats_ = false;
  }
}

// Under mutex_. One timer at a time: where there are many questions it finds that the last ones are young.
void Session::nudge_at(TimePoint when) {
  try {
    tasks_.call_at(when, [this] { nudge(); });
    nudges_ = true;
  } catch (const std::bad_alloc&) {
    nudges_ = false;
  }
}

void Session::nudge() {
  {
    const std::lock_guard lock(mutex_);
    nudges_ = false;
    if (!connected_ || !waits_since_ || nudged_for_ == waits_since_) return;
    const TimePoint when = later(*waits_since_, kNudgeAfter);
    if (clock_.now() < when) return nudge_at(when);
    nudged_for_ = waits_since_;
  }
  send_ping();
}

void Session::beat() {
  bool silent = false;
  bool proves = false;
  bool pings = false;
  {
    const std::lock_guard lock(mutex_);
    beat_later();
    if (!connected_) return;
    even_beat_ = !even_beat_;
    // It is looked at with each beat only, and what was said with one of them was said a little after it.
    const Duration enough = patience() * 3 / 4;
    silent = lacks_watches_ || (waits_since_ && clock_.now() - *waits_since_ >= enough);
    proves = kept_valid_;
    pings = !kept_valid_ && even_beat_;
  }
  if (silent) return shared_.hang_up();
  if (proves) send_proof();
  if (pings) send_ping();
  send_leavings();
}

// Under mutex_. See Silence.
Duration Session::patience() const {
  const Duration most = timeout_ / 3;
  return kept_valid_ ? std::max(timeout_ / 6, std::min<Duration>(most, 500ms)) : most;
}

void Session::send_proof() {
  ask({agreement()}, later(clock_.now(), timeout() / 3), false, 0, [](const Outcome&) {});
}

void Session::send_ping() {
  const Way way = this->way(0);
  {
    const std::lock_guard lock(mutex_);
    if (!connected_ || way.stream != stream_) return;
    pings_.push_back(way.now);
  }
  std::string bytes;
  append_ping(bytes);
  shared_.ask(std::move(bytes), {}, way.stream);
}

void Session::keep_valid(bool wanted) {
  const std::lock_guard lock(mutex_);
  kept_valid_ = wanted;
}

std::int64_t Session::session() const {
  const std::lock_guard lock(mutex_);
  return credentials_.session;
}

std::uint64_t Session::connection() const {
  const std::lock_guard lock(mutex_);
  return stream_;
}

TimePoint Session::valid_until() const {
  const std::lock_guard lock(mutex_);
  return standing_.valid_until();
}

Duration Session::timeout() const {
  const std::lock_guard lock(mutex_);
  return timeout_;
}

// --- the end ---

void Session::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closing_, true)) return;
  }
  try {
    say_goodbye();
  } catch (const std::bad_alloc&) {
    // Our nodes go when the server misses us.
  }
  shared_.close();
  redialler_.stop();
  tasks_.end();
  Leavings dropped;  // outside of mutex_
  const std::lock_guard lock(mutex_);
  std::swap(dropped, leavings_);
}

// The answer to it reads like that to a delete.
void Session::say_goodbye() {
  const Way way = this->way(1);
  const auto told = std::make_shared<std::promise<void>>();
  const auto batch =
      std::make_shared<Batch>(std::vector<Request>{{.op = Op::remove}}, way.answers(),
                              [told](const Outcome&) { told->set_value(); });
  batch->expect(1);
  std::string bytes;
  append_goodbye(bytes, way.xid);
  std::unique_ptr<transport::Asker> asker = std::make_unique<Question>(
      batch, 0,
      Question::Terms{.xid = way.xid, .sent = way.now, .deadline = later(way.now, kGoodbye)});
  shared_.ask(std::move(bytes), std::span(&asker, 1), way.stream);
  told->get_future().wait_for(kGoodbye);
}

}  // namespace holdfast::store::zookeeper
