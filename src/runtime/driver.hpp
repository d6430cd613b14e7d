#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "core/engine.hpp"
#include "holdfast/observer.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/store/random.hpp"
#include "holdfast/store/store.hpp"
#include "runtime/blocked_op.hpp"
#include "runtime/callbacks.hpp"
#include "transport/insist.hpp"

namespace holdfast::runtime {

// Takes the end of one operation. Called once, on any thread, under no lock; must not run user code.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual BlockedOp* blocked() { return nullptr; }  // if a thread may wait for it
};

class AcquireSink : public Sink {
 public:
  virtual void acquired(Result<core::HoldCellPtr>) = 0;
};

// A release or a verification.
class VoidSink : public Sink {
 public:
  virtual void finished(Result<void>) = 0;
};

// What the thread that brings an event does next: only one that waits for the outcome may be kept
// by a store that works on its caller's thread.
enum class Asker : std::uint8_t { goes_on, waits };

// What a driver works with. References outlive it.
struct DriverParts {
  const store::Clock& clock;
  store::Loop& loop;
  Callbacks& callbacks;
  store::Random& random;
  std::unique_ptr<store::Store> store;
  std::shared_ptr<Observer> observer{};
  Executor executor{};
};

// Puts an Engine to work: carries events in and actions out.
//
// Every event is handled under one mutex, at a time read after the mutex was taken; the actions it
// led to are run after it was given back, by the thread that brought the event. Under the mutex there
// is no store call, no user code and no stop callback; only the loop's and the callbacks' queues are
// touched. An action that brings the next event (a store that answers at once) does not recurse: the
// new actions queue behind the running ones of the same thread.
//
// Threads      All members from any thread: callers, the loop, a client library's own threads.
class Driver final : public std::enable_shared_from_this<Driver>,
                     store::Answers<store::GrantReply>,
                     store::Answers<store::RenewReply>,
                     store::Answers<store::ReleaseReply>,
                     store::Answers<store::WithdrawReply> {
 public:
  Driver(core::EngineSettings settings, DriverParts parts);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  core::OpId acquire(core::AcquireWanted wanted, std::shared_ptr<AcquireSink>,
                     Asker = Asker::goes_on);
  void give_up(core::OpId, Errc why);
  store::TimerId give_up_at(core::OpId, TimePoint);
  void forget_timer(store::TimerId timer) { parts_.loop.cancel(timer); }
  void release(core::HoldCellPtr);
  void release(core::HoldCellPtr, std::shared_ptr<VoidSink>, Asker);
  void verify(core::HoldCellPtr, std::shared_ptr<VoidSink>, Asker);
  void close();  // what waits ends as cancelled; holds stay. Nobody asks for more

  // For questions that the engine has no part in: see StoreQuestion.
  store::Store& store() { return *parts_.store; }
  Duration answer_within() const { return answer_within_; }
  Duration patience() const { return patience_; }
  const store::ClientId& client() const { return client_; }
  store::Random& random() { return parts_.random; }
  store::TimerId call_at(TimePoint when, Task task) {
    return parts_.loop.call_at(when, std::move(task));
  }

  // Lends this thread to the store until the operation is done.
  void block(const std::shared_ptr<BlockedOp>&);

  // Runs user code where the user wants it.
  void call_back(Task);
  // The same for what somebody waits for: if there is no memory, as soon as there is.
  template <class F>
  void surely_call_back(const F& f) {
    transport::insist([&] { call_back(Task(f)); });
  }
  const void* callbacks_id() const { return parts_.callbacks.id(); }

  TimePoint now() const { return parts_.clock.now(); }
  WallTime wall_now() const { return parts_.clock.wall_now(); }

  // The end: waits up to `limit` for what is on its way out of the store, then closes the store. Not
  // for a thread on which running_here() is true: the store may have to wait for that very thread.
  void shut_down(Duration limit);
  bool drained();  // nothing is on its way out of the store
  bool running_here() const;
  // Closed, and something that nobody waits for is under way still: an answer, or what that leads to. Whoever brings it
  // may be the last that has this Driver. Takes its mutexes.
  bool winds_up();

 private:
  struct Frame;
  struct WakeUp;
  class Visit;
  using AnySink = std::variant<std::shared_ptr<AcquireSink>, std::shared_ptr<VoidSink>>;

  void answered(store::CallId, store::GrantReply) override;
  void answered(store::CallId, store::RenewReply) override;
  void answered(store::CallId, store::ReleaseReply) override;
  void answered(store::CallId, store::WithdrawReply) override;

  template <class F>
  static void come_in(const std::weak_ptr<Driver>&, const F&);
  template <class Event>
  void post(Event event, Asker = Asker::goes_on);
  template <class Event>
  std::exception_ptr handle(Event event, core::Outbox&);  // under mu_
  void tell_observer(std::vector<LockEvent>);             // under mu_
  void arm_timer();                                       // under mu_
  bool timer_armed();                                     // under mu_
  void tick(TimePoint armed_for);
  bool clocks_disagree();
  void wake_up(core::ClaimNo, const store::Wake&);
  core::OpId new_op(AnySink);
  bool has_acquires();
  void let_look(Sink&);
  template <class S>
  std::shared_ptr<S> take_sink(core::OpId);
  template <class S>
  std::shared_ptr<S> find_sink(core::OpId);

  void run(std::vector<core::Action>, Asker);
  void queue(std::vector<core::Action>, Frame&);
  void run_each(std::vector<core::Action>&, std::exception_ptr& failure);
  template <class Reply>
  store::Call<Reply> call(store::CallId, TimePoint deadline);
  void run(core::AskGrant&);
  void run(core::AskRenew&);
  void run(core::AskRelease&);
  void run(core::AskWithdraw&);
  void run(core::StartWatch&);
  void run(core::StopWatch&);
  void run(core::FinishAcquire&);
  void run(core::StayAwake&);
  void run(core::FinishVoid&);
  void run(core::TellLost&);

  DriverParts parts_;
  Duration answer_within_;
  Duration patience_;
  store::ClientId client_;
  std::atomic<core::OpId> last_op_{0};
  std::atomic<int> visits_{0};  // threads in post(); those of a store hold no reference
  std::atomic<bool> closed_{false};

  std::mutex mu_;  // guards the engine, and what is below up to the next mutex
  core::Engine engine_;
  TimePoint armed_for_ = kNever;
  Duration wall_ahead_{};  // wall clock − BOOTTIME, to notice that one of them jumped
  bool shut_ = false;
  std::condition_variable changed_;

  std::mutex ops_mu_;
  std::map<core::OpId, AnySink> ops_;

  // A watch may be stopped by one thread before another has come to start it.
  struct WatchSlot {
    store::WatchPtr watch;
    bool starting = false;
    bool stopped = false;
  };
  std::mutex watches_mu_;
  std::map<core::ClaimNo, WatchSlot> watches_;
};

}  // namespace holdfast::runtime
