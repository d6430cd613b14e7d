#include "runtime/driver.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>

#include "runtime/endings.hpp"
#include "runtime/relax.hpp"

namespace holdfast::runtime {

using core::Answered;

// The actions that this thread is running for a driver; the innermost first.
struct Driver::Frame {
  Driver* driver;
  std::vector<core::Action> queue;
  Asker asker;
  Frame* outer;
};

namespace {

thread_local int t_wakes = 0;  // wakes that this thread is delivering for some store

// One event that an observer chokes on does not cost it the next.
void tell(Observer& observer, const LockEvent& event) {
  try {
    observer.on_event(event);
  } catch (...) {
  }
}

// Both hands of a quick hand-off come for the mutex at the same time, and keep it for less than it
// takes to wake a thread.
std::unique_lock<std::mutex> take(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int tries = 0; !lock && tries < 50; ++tries) {
    relax();
    if (lock.try_lock()) break;
  }
  if (!lock) lock.lock();
  return lock;
}

// A jump of one clock against the other that is worth asking the store about.
constexpr Duration kJump = std::chrono::milliseconds(500);

}  // namespace

static thread_local void* t_frames = nullptr;  // Driver::Frame*

Driver::Driver(core::EngineSettings settings, DriverParts parts)
    : parts_(std::move(parts)),
      answer_within_(settings.pace.answer_within),
      patience_(settings.pace.patience),
      client_(settings.client),
      engine_(std::move(settings), parts_.random) {
  wall_ahead_ = wall_now().time_since_epoch() - now().time_since_epoch();
}

Driver::~Driver() = default;

// ---- events ----

// Says that a thread is in here. Leaving is the last thing that thread does to the driver, which may
// be destroyed right after.
class Driver::Visit {
 public:
  explicit Visit(Driver& driver) : visits_(driver.visits_) { ++visits_; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { --visits_; }

 private:
  std::atomic<int>& visits_;
};

// For whoever has no reference of its own. The one it is lent may become the last, and ends during the visit.
template <class F>
void Driver::come_in(const std::weak_ptr<Driver>& driver, const F& f) {
  const Endings::Guest guest;
  auto here = driver.lock();
  if (!here) return;
  const Visit visit(*here);
  f(*here);
  here.reset();
}

template <class Event>
void Driver::post(Event event, Asker asker) {
  const Visit visit(*this);
  core::Outbox out(parts_.observer != nullptr);
  std::exception_ptr failure;
  bool armed = false;
  {
    const auto lock = take(mu_);
    if (shut_) return;
    failure = handle(std::move(event), out);
    armed = timer_armed();
    if (!out.events.empty()) tell_observer(std::move(out.events));
    changed_.notify_all();
  }
  run(std::move(out.actions), asker);
  if (!armed) {
    transport::insist([this] {
      const std::lock_guard lock(mu_);
      if (!shut_) arm_timer();
    });
  }
  if (failure) std::rethrow_exception(failure);
}

// Only who has a wish is told that there was no memory for it. The engine makes good for the rest.
template <class Event>
std::exception_ptr Driver::handle(Event event, core::Outbox& out) {
  constexpr bool wish = std::is_same_v<Event, core::AcquireWanted> ||
                        std::is_same_v<Event, core::ReleaseWanted> ||
                        std::is_same_v<Event, core::VerifyWanted>;
  const TimePoint time = now();
  try {
    engine_.on(std::move(event), time, out);
  } catch (const std::bad_alloc&) {
    engine_.mend_soon(time);
    if (wish) return std::current_exception();
  }
  return nullptr;
}

// Under the mutex, so that the observer sees them in order.
void Driver::tell_observer(std::vector<LockEvent> events) {
  try {
    parts_.callbacks.post([observer = parts_.observer, events = std::move(events)] {
      for (const LockEvent& each : events) tell(*observer, each);
    });
  } catch (const std::bad_alloc&) {
    // It misses these.
  }
}

// Only an earlier deadline needs a new timer; one that comes too early finds nothing to do.
void Driver::arm_timer() {
  const TimePoint next = engine_.next_timer();
  if (next >= armed_for_) return;
  parts_.loop.call_at(next, [this, next] { tick(next); });
  armed_for_ = next;
}

bool Driver::timer_armed() {
  try {
    arm_timer();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Driver::tick(TimePoint armed_for) {
  bool jumped = false;
  {
    const std::lock_guard lock(mu_);
    if (armed_for_ != armed_for) return;  // replaced by an earlier one
    armed_for_ = kNever;
    jumped = clocks_disagree();
  }
  if (jumped) post(core::VerifyAllWanted{});
  post(core::Tick{});
}

bool Driver::clocks_disagree() {
  const Duration ahead = wall_now().time_since_epoch() - now().time_since_epoch();
  const Duration moved = ahead - std::exchange(wall_ahead_, ahead);
  return moved > kJump || moved < -kJump;
}

core::OpId Driver::new_op(AnySink sink) {
  const core::OpId op = last_op_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::lock_guard lock(ops_mu_);
  ops_.emplace(op, std::move(sink));
  return op;
}

template <class S>
std::shared_ptr<S> Driver::take_sink(core::OpId op) {
  const std::lock_guard lock(ops_mu_);
  auto entry = ops_.extract(op);
  return entry.empty() ? nullptr : std::get<std::shared_ptr<S>>(std::move(entry.mapped()));
}

template <class S>
std::shared_ptr<S> Driver::find_sink(core::OpId op) {
  const std::lock_guard lock(ops_mu_);
  const auto entry = ops_.find(op);
  return entry == ops_.end() ? nullptr : std::get<std::shared_ptr<S>>(entry->second);
}

core::OpId Driver::acquire(core::AcquireWanted wanted, std::shared_ptr<AcquireSink> sink,
                           Asker asker) {
  const core::OpId op = new_op(std::move(sink));
  wanted.op = op;
  try {
    post(std::move(wanted), asker);
  } catch (...) {
    // There was no memory for it, or no thread. If it is under way nevertheless, what it leads to is
    // given back by the sink, which nobody else has then.
    const std::lock_guard lock(mu_);
    if (!engine_.awaits(op)) take_sink<AcquireSink>(op);
    throw;
  }
  return op;
}

void Driver::give_up(core::OpId op, Errc why) { post(core::GiveUpWanted{op, why}); }

store::TimerId Driver::give_up_at(core::OpId op, TimePoint when) {
  return parts_.loop.call_at(when, [self = weak_from_this(), op] {
    come_in(self, [op](Driver& here) { here.give_up(op, Errc::timed_out); });
  });
}

void Driver::release(core::HoldCellPtr hold) {
  post(core::ReleaseWanted{std::move(hold), core::kNobody});
}

void Driver::release(core::HoldCellPtr hold, std::shared_ptr<VoidSink> sink, Asker asker) {
  const core::OpId op = new_op(std::move(sink));
  try {
    post(core::ReleaseWanted{std::move(hold), op}, asker);
  } catch (...) {
    take_sink<VoidSink>(op);
    throw;
  }
}

void Driver::verify(core::HoldCellPtr hold, std::shared_ptr<VoidSink> sink, Asker asker) {
  const core::OpId op = new_op(std::move(sink));
  try {
    post(core::VerifyWanted{std::move(hold), op}, asker);
  } catch (...) {
    take_sink<VoidSink>(op);
    throw;
  }
}

void Driver::close() {
  closed_ = true;
  post(core::CloseWanted{});
}

void Driver::answered(store::CallId id, store::GrantReply reply) {
  post(Answered<store::GrantReply>{id, std::move(reply)});
}
void Driver::answered(store::CallId id, store::RenewReply reply) {
  post(Answered<store::RenewReply>{id, std::move(reply)});
}
void Driver::answered(store::CallId id, store::ReleaseReply reply) {
  post(Answered<store::ReleaseReply>{id, std::move(reply)});
}
void Driver::answered(store::CallId id, store::WithdrawReply reply) {
  post(Answered<store::WithdrawReply>{id, std::move(reply)});
}

// ---- actions ----

void Driver::run(std::vector<core::Action> actions, Asker asker) {
  if (actions.empty()) return;
  auto* const outer = static_cast<Frame*>(t_frames);
  for (Frame* frame = outer; frame != nullptr; frame = frame->outer) {
    if (frame->driver == this) return queue(std::move(actions), *frame);
  }
  Frame frame{this, std::move(actions), asker, outer};
  t_frames = &frame;
  // Also if a thread that had to be started could not be.
  const struct Leave {
    Frame* outer;
    ~Leave() { t_frames = outer; }
  } leave{outer};
  std::exception_ptr failure;
  while (!frame.queue.empty()) {
    std::vector<core::Action> batch = std::exchange(frame.queue, {});
    run_each(batch, failure);  // which may add to the queue
  }
  if (failure) std::rethrow_exception(failure);
}

// Behind those that the thread is running; without memory for that, at once.
void Driver::queue(std::vector<core::Action> actions, Frame& frame) {
  std::exception_ptr failure;
  try {
    frame.queue.reserve(frame.queue.size() + actions.size());
  } catch (const std::bad_alloc&) {
    run_each(actions, failure);
    if (failure) std::rethrow_exception(failure);
    return;
  }
  for (core::Action& action : actions) frame.queue.push_back(std::move(action));
}

// An action that fails, for want of memory or of a thread, does not take the others with it: each is
// somebody's answer. One that lacked memory was a question, which is answered by the end of its Call, or
// a watch, without which the claim looks by itself.
void Driver::run_each(std::vector<core::Action>& actions, std::exception_ptr& failure) {
  for (core::Action& action : actions) {
    try {
      std::visit([this](auto& each) { run(each); }, action);
    } catch (const std::bad_alloc&) {
    } catch (...) {
      failure = std::current_exception();
    }
  }
}

// Only for actions, which run in this thread's innermost frame or in one around it.
template <class Reply>
store::Call<Reply> Driver::call(store::CallId id, TimePoint deadline) {
  bool waits = true;  // if all who brought events into these frames wait
  for (auto* frame = static_cast<Frame*>(t_frames); frame != nullptr; frame = frame->outer) {
    waits = waits && frame->asker == Asker::waits;
  }
  return store::Call<Reply>(*this, id, deadline, waits);
}

void Driver::run(core::AskGrant& ask) {
  parts_.store->try_grant(ask.request, call<store::GrantReply>(ask.call, ask.deadline));
}

void Driver::run(core::AskRenew& ask) {
  parts_.store->renew(ask.renewals, call<store::RenewReply>(ask.call, ask.deadline));
}

void Driver::run(core::AskRelease& ask) {
  parts_.store->release(ask.key, call<store::ReleaseReply>(ask.call, ask.deadline));
}

void Driver::run(core::AskWithdraw& ask) {
  parts_.store->withdraw(ask.key, call<store::WithdrawReply>(ask.call, ask.deadline));
}

// What a store calls when a claim should look.
struct Driver::WakeUp {
  std::weak_ptr<Driver> driver;
  core::ClaimNo claim;

  void operator()(const store::Wake& wake) const {
    const struct Delivering {
      Delivering() { ++t_wakes; }
      ~Delivering() { --t_wakes; }
    } delivering;
    come_in(driver, [&](Driver& here) { here.wake_up(claim, wake); });
  }
};

// Without memory for what the wake says, the claim asks the store.
void Driver::wake_up(core::ClaimNo claim, const store::Wake& wake) {
  core::Woken woken{claim, {}};
  try {
    woken.wake = wake;
  } catch (const std::bad_alloc&) {
    woken.wake = {};
  }
  post(std::move(woken));
}

void Driver::run(core::StartWatch& start) {
  {
    const std::lock_guard lock(watches_mu_);
    const auto [slot, is_new] = watches_.try_emplace(start.claim);
    if (!is_new) {  // stopped before it began
      watches_.erase(slot);
      return;
    }
    slot->second.starting = true;
  }
  store::WatchPtr watch;
  try {
    watch = parts_.store->watch(start.key, WakeUp{weak_from_this(), start.claim});
  } catch (const std::bad_alloc&) {
    // Then the claim looks by itself, at the times at which it does so anyway.
  }
  const std::lock_guard lock(watches_mu_);
  const auto slot = watches_.find(start.claim);
  slot->second.starting = false;
  if (slot->second.stopped) {
    watches_.erase(slot);
  } else {
    slot->second.watch = std::move(watch);
  }
}

void Driver::run(core::StopWatch& stop) {
  store::WatchPtr ended;  // destroyed outside the mutex
  const std::lock_guard lock(watches_mu_);
  const auto [slot, not_started] = watches_.try_emplace(stop.claim);
  if (not_started || slot->second.starting) {
    slot->second.stopped = true;
  } else {
    ended = std::move(slot->second.watch);
    watches_.erase(slot);
  }
}

void Driver::run(core::FinishAcquire& finish) {
  const auto sink = take_sink<AcquireSink>(finish.op);
  if (!sink) return;
  if (finish.error) {
    sink->acquired(*finish.error);
  } else {
    sink->acquired(std::move(finish.hold));
  }
  let_look(*sink);
}

void Driver::run(core::StayAwake& stay) {
  const auto sink = find_sink<AcquireSink>(stay.op);
  if (sink && sink->blocked() != nullptr) sink->blocked()->stay_awake();
}

void Driver::run(core::FinishVoid& finish) {
  const auto sink = take_sink<VoidSink>(finish.op);
  if (!sink) return;
  sink->finished(std::move(finish.result));
  let_look(*sink);
}

// Its thread may be reading the transport, where it would not notice.
void Driver::let_look(Sink& sink) {
  const BlockedOp* op = sink.blocked();
  if (op != nullptr && op->driving()) parts_.store->interrupt(*op);
}

void Driver::run(core::TellLost& lost) {
  surely_call_back([hold = std::move(lost.hold)] { hold->lost.request_stop(); });
}

// ---- threads ----

void Driver::call_back(Task task) {
  if (!parts_.executor) return parts_.callbacks.post(std::move(task));
  parts_.callbacks.post([executor = parts_.executor, task = std::move(task)]() mutable {
    executor(std::move(task));
  });
}

void Driver::block(const std::shared_ptr<BlockedOp>& op) {
  while (!op->done()) {
    op->set_driving(true);
    const bool drove = op->done() || parts_.store->drive(op);
    op->set_driving(false);
    if (!drove) op->wait();
  }
}

bool Driver::running_here() const {
  if (t_wakes > 0 || parts_.callbacks.on_this_thread()) return true;
  for (auto* frame = static_cast<const Frame*>(t_frames); frame != nullptr; frame = frame->outer) {
    if (frame->driver == this) return true;
  }
  return false;
}

bool Driver::drained() {
  const std::lock_guard lock(mu_);
  return engine_.drained();
}

// In this order: whoever brings the end of an acquire is in here before that is nobody's any more, and until it is.
bool Driver::winds_up() {
  if (!closed_) return false;
  {
    const std::lock_guard lock(mu_);
    if (shut_) return false;
    if (!engine_.drained()) return true;
  }
  return has_acquires() || visits_ != 0;
}

// Others have a thread that waits for them, and has the driver.
bool Driver::has_acquires() {
  const std::lock_guard lock(ops_mu_);
  return std::any_of(ops_.begin(), ops_.end(), [](const auto& entry) {
    return std::holds_alternative<std::shared_ptr<AcquireSink>>(entry.second);
  });
}

void Driver::shut_down(Duration limit) {
  {
    std::unique_lock lock(mu_);
    // Capped, since wait_for() adds it to a clock and kForever would overflow.
    const Duration capped = std::min<Duration>(limit, std::chrono::years(1));
    changed_.wait_for(lock, capped, [this] { return engine_.drained(); });
    shut_ = true;
  }
  parts_.store->close();
  // What brought the last reference to its end may be on its way out still.
  while (visits_ != 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  // Nobody will be told any more. An operation holds the driver, so it must not be held here.
  std::map<core::OpId, AnySink> untold;
  const std::lock_guard lock(ops_mu_);
  untold.swap(ops_);
}

}  // namespace holdfast::runtime
