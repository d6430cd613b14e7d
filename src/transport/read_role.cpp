#include "transport/read_role.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "transport/insist.hpp"

namespace holdfast::transport {
namespace {

// The role that this thread is reading for. Whatever it hands out, no other thread is the leader.
thread_local const ReadRole* t_reading_for = nullptr;

template <class Left, class Right>
bool same(const Left& left, const Right& right) {
  return !left.owner_before(right) && !right.owner_before(left);
}

}  // namespace

// From taking the role to having handed it back, also by an exception.
class ReadRole::Reading {
 public:
  explicit Reading(ReadRole& role) : role_(role), outer_(std::exchange(t_reading_for, &role)) {}
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    role_.hand_back(alive_);
    t_reading_for = outer_;
  }

  bool read_once(TimePoint until) { return alive_ = role_.connection_.read_once(until); }

 private:
  ReadRole& role_;
  const ReadRole* const outer_;
  bool alive_ = true;
};

ReadRole::ReadRole(Connection& connection, const store::Clock& clock)
    : connection_(connection), clock_(clock) {}

void ReadRole::open() {
  std::unique_lock lock(mutex_);
  if (shut_ || reader_ != Reader::nobody) return;
  watch(true);
  reader_ = Reader::loop;
  nudge_one(lock);
}

bool ReadRole::drive(const std::shared_ptr<store::BlockedCaller>& caller) {
  if (caller->done()) return true;
  if (!may_lead(*caller) || !try_lead(caller)) return false;
  Reading reading(*this);
  while (!shut_ && may_lead(*caller) && reading.read_once(caller->until())) {
  }
  return true;
}

bool ReadRole::may_lead(const store::BlockedCaller& caller) const {
  if (caller.done()) return false;
  const TimePoint until = caller.until();
  return until == kNever || clock_.now() < until;
}

bool ReadRole::try_lead(const std::shared_ptr<store::BlockedCaller>& caller) {
  const std::lock_guard lock(mutex_);
  if (same(nudged_, caller)) nudged_.reset();
  if (reader_ != Reader::loop) {
    note_candidate(caller);
    return false;
  }
  candidates_.erase(caller);
  watch(false);
  reader_ = Reader::caller;
  leader_ = caller.get();
  ++inside_;
  return true;
}

// While one caller leads for an hour, thousands may come, be answered and go: their entries are
// swept out each time the number has doubled.
// Without memory for it a caller is no candidate: whoever reads brings its answer.
void ReadRole::note_candidate(const std::shared_ptr<store::BlockedCaller>& caller) {
  try {
    candidates_.insert(caller);
  } catch (const std::bad_alloc&) {
    return;
  }
  if (candidates_.size() < sweep_at_) return;
  std::erase_if(candidates_, [](const Candidate& each) { return each.expired(); });
  sweep_at_ = std::max<std::size_t>(64, 2 * candidates_.size());
}

void ReadRole::loop_turn() {
  {
    const std::lock_guard lock(mutex_);
    if (reader_ != Reader::loop) return;  // a caller took it while the loop was on its way here
    reader_ = Reader::turn;
    ++inside_;
  }
  Reading reading(*this);
  reading.read_once(TimePoint::min());
}

void ReadRole::hand_back(bool alive) {
  std::unique_lock lock = insist([&] {
    std::unique_lock taken(mutex_);
    leader_ = nullptr;
    const bool goes_on = alive && !shut_;
    watch(goes_on);
    reader_ = goes_on ? Reader::loop : Reader::nobody;
    return taken;
  });
  nudge_one(lock);
  if (!alive) {
    lock.unlock();
    connection_.ended();
    lock.lock();
  }
  --inside_;
  left_.notify_all();  // under the mutex: whoever waits in shut() may destroy us after it
}

// Wakes one candidate, unless one that was woken before is still on its way. It is noted in nudged_
// before it is woken, because it may come, and be turned away by a new leader, before we are back.
void ReadRole::nudge_one(std::unique_lock<std::mutex>& lock) {
  while (reader_ == Reader::loop) {
    const bool is_coming = !nudged_.expired();
    if (!is_coming && candidates_.empty()) return;
    if (!is_coming) nudged_ = std::move(candidates_.extract(candidates_.begin()).value());
    const Candidate chosen = nudged_;
    lock.unlock();
    bool fit = false;
    if (const auto caller = chosen.lock()) {
      fit = may_lead(*caller);
      if (fit && !is_coming) caller->nudge();
    }
    lock.lock();
    if (fit) return;
    if (same(nudged_, chosen)) nudged_.reset();
  }
}

void ReadRole::interrupt(const store::BlockedCaller& caller) {
  if (t_reading_for == this) return;
  {
    const std::lock_guard lock(mutex_);
    if (leader_ != &caller) return;
  }
  connection_.interrupt();  // if the leader has just left, the next one looks up once in vain
}

void ReadRole::shut() {
  const int own = t_reading_for == this ? 1 : 0;
  shut_ = true;
  connection_.interrupt();
  std::unique_lock lock(mutex_);
  if (reader_ == Reader::loop) reader_ = Reader::nobody;
  watch(false);
  left_.wait(lock, [&] { return inside_ == own; });
}

void ReadRole::watch(bool on) {
  if (watched_ == on) return;
  connection_.let_loop_watch(on);
  watched_ = on;
}

ReadRole::Reader ReadRole::reader() const {
  const std::lock_guard lock(mutex_);
  return reader_;
}

}  // namespace holdfast::transport
