#include "runtime/epoll_loop.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "runtime/boot_clock.hpp"
#include "runtime/fork_word.hpp"
#include "transport/quiet_thread.hpp"

namespace holdfast::runtime {
namespace {

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLPRI == POLLPRI);
static_assert(EPOLLERR == POLLERR && EPOLLHUP == POLLHUP);

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// The counter of an eventfd or the expirations of a timerfd.
void drain(const Descriptor& descriptor) {
  std::uint64_t count = 0;
  while (read(descriptor.get(), &count, sizeof count) < 0 && errno == EINTR) {
  }
}

thread_local const void* t_running_for = nullptr;

// What epoll tells us of a descriptor. The serial tells a watch from an earlier one of the same fd
// whose event was fetched before it ended.
constexpr std::uint64_t kWakeEvent = 0;
constexpr std::uint64_t kTimerEvent = 1;
constexpr std::uint64_t kFirstSerial = 2;

}  // namespace

// Shared with the thread, which may outlive the EpollLoop.
class EpollLoop::State {
 public:
  State()
      : epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        timer_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (epoll_.get() < 0 || wake_.get() < 0 || timer_.get() < 0) missing_ = errno;
    control(EPOLL_CTL_ADD, wake_.get(), EPOLLIN, kWakeEvent);
    control(EPOLL_CTL_ADD, timer_.get(), EPOLLIN, kTimerEvent);
  }

  int missing() const { return missing_; }  // 0, or why there are not all descriptors

  static void start(const std::shared_ptr<State>& state) {
    state->thread_ = transport::start_quiet_thread("holdfast-loop", [state] { state->run(); });
  }

  bool in_this_process() const { return ForkWord::is_current(born_in_); }
  bool on_loop_thread() const { return t_running_for == this; }
  std::uint64_t failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

  void post(Task);
  store::TimerId call_at(TimePoint, Task);
  void cancel(store::TimerId);
  void watch_fd(int fd, std::uint32_t events, Ready*);
  void stop();

  std::shared_ptr<State> itself;  // only in a forked child

 private:
  using TimerKey = std::pair<TimePoint, store::TimerId>;
  using Timers = std::map<TimerKey, Task>;

  void run();
  bool begin_round();
  void wait_and_dispatch(bool sleep);
  void dispatch(std::uint64_t what, std::uint32_t events);
  void run_due_timers();
  void run_posted();
  template <class F>
  void guarded(F&&);

  void wake_up();          // under the mutex
  void arm(TimePoint);     // under the mutex
  void end_watch(int fd);  // under the mutex
  bool control(int operation, int fd, std::uint32_t events, std::uint64_t data);

  const std::uint64_t born_in_ = ForkWord::enter();
  const BootClock clock_;
  const Descriptor epoll_;
  const Descriptor wake_;
  const Descriptor timer_;
  int missing_ = 0;

  mutable std::mutex mutex_;
  std::deque<Task> posted_;
  Timers timers_;
  std::unordered_map<store::TimerId, TimePoint> timer_times_;
  store::TimerId last_timer_ = 0;
  TimePoint armed_for_ = kNever;
  std::map<int, std::uint64_t> serials_;               // fd -> serial of its watch
  std::unordered_map<std::uint64_t, Ready*> watches_;  // by serial
  std::uint64_t next_serial_ = kFirstSerial;
  bool sleeping_ = false;  // the thread is in epoll_wait, or about to be, and must be woken
  bool stopping_ = false;
  std::uint64_t failures_ = 0;

  std::mutex join_mutex_;
  std::thread thread_;

  // The loop thread's. Kept, since even an empty deque needs memory.
  std::deque<Task> running_;
};

// ---- from any thread ----

void EpollLoop::State::post(Task task) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  posted_.push_back(std::move(task));
  wake_up();
}

store::TimerId EpollLoop::State::call_at(TimePoint when, Task task) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return 0;
  const store::TimerId id = ++last_timer_;
  const auto timer = timers_.emplace(TimerKey(when, id), std::move(task)).first;
  try {
    timer_times_.emplace(id, when);
  } catch (...) {
    timers_.erase(timer);
    throw;
  }
  if (sleeping_) arm(when);  // no need to wake the thread for it; awake, it looks by itself
  return id;
}

void EpollLoop::State::cancel(store::TimerId id) {
  Timers::node_type cancelled;  // destroyed outside the mutex
  const std::lock_guard lock(mutex_);
  const auto found = timer_times_.find(id);
  if (found == timer_times_.end()) return;
  cancelled = timers_.extract(TimerKey(found->second, id));
  timer_times_.erase(found);
}

void EpollLoop::State::watch_fd(int fd, std::uint32_t events, Ready* ready) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  if (events == 0) return end_watch(fd);

  const std::uint64_t serial = next_serial_++;
  watches_.emplace(serial, ready);
  try {
    const auto [entry, is_new] = serials_.try_emplace(fd, serial);
    if (!is_new) watches_.erase(std::exchange(entry->second, serial));
    if (control(is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, events, serial)) return;
    posted_.push_back([this, serial] { dispatch(serial, POLLNVAL); });
  } catch (...) {
    end_watch(fd);
    watches_.erase(serial);
    throw;
  }
  wake_up();
}

void EpollLoop::State::end_watch(int fd) {
  const auto entry = serials_.find(fd);
  if (entry == serials_.end()) return;
  control(EPOLL_CTL_DEL, fd, 0, 0);
  watches_.erase(entry->second);
  serials_.erase(entry);
}

bool EpollLoop::State::control(int operation, int fd, std::uint32_t events, std::uint64_t data) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = data;
  return epoll_ctl(epoll_.get(), operation, fd, &event) == 0;
}

// Writes under the mutex: the thread cannot take the task that was just posted, finish with it and
// let somebody close the descriptor before the write is over.
void EpollLoop::State::wake_up() {
  if (!sleeping_) return;
  sleeping_ = false;
  const std::uint64_t one = 1;
  while (write(wake_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

// Only ever to an earlier time. A timerfd that fires for a timer since cancelled costs one round,
// which is less than setting it back with every cancel.
void EpollLoop::State::arm(TimePoint when) {
  if (when >= armed_for_) return;
  armed_for_ = when;
  // Zero would disarm it; what has passed fires at once.
  const Duration since_boot = std::max(when.time_since_epoch(), Duration(1));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (since_boot - seconds).count();
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

void EpollLoop::State::stop() {
  Timers never_run;  // destroyed outside the mutex
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    never_run.swap(timers_);
    timer_times_.clear();
    while (!serials_.empty()) end_watch(serials_.begin()->first);
    wake_up();
  }
  std::unique_lock lock(join_mutex_, std::defer_lock);  // a second stop() waits for the first
  if (on_loop_thread()) {
    if (lock.try_lock() && thread_.joinable()) thread_.detach();  // else somebody joins it
    return;
  }
  lock.lock();
  if (thread_.joinable()) thread_.join();
}

// ---- the loop thread ----

void EpollLoop::State::run() {
  t_running_for = this;
  while (begin_round()) {
    run_due_timers();
    run_posted();
  }
}

// Waits for something to do, and calls the descriptors that are ready. False: nothing is left.
bool EpollLoop::State::begin_round() {
  bool sleep = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ && posted_.empty()) return false;
    if (!timers_.empty()) arm(timers_.begin()->first.first);
    sleep = sleeping_ = posted_.empty();
  }
  wait_and_dispatch(sleep);
  return true;
}

void EpollLoop::State::wait_and_dispatch(bool sleep) {
  std::array<epoll_event, 64> events;
  const int count =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), sleep ? -1 : 0);
  {
    const std::lock_guard lock(mutex_);
    sleeping_ = false;
  }
  // EINTR also comes of SIGCONT, which no mask holds back: then there are no events, and that is
  // all.
  if (count <= 0) return;
  for (const epoll_event& event : std::span(events.data(), static_cast<std::size_t>(count))) {
    dispatch(event.data.u64, event.events);  // by value: the struct is packed
  }
}

void EpollLoop::State::dispatch(std::uint64_t what, std::uint32_t events) {
  if (what == kWakeEvent) return drain(wake_);
  if (what == kTimerEvent) {
    const std::lock_guard lock(mutex_);
    drain(timer_);
    armed_for_ = kNever;
    return;
  }
  Ready* ready = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto watch = watches_.find(what);
    if (watch == watches_.end()) return;
    ready = watch->second;
  }
  guarded([&] { ready->on_ready(events); });
}

// Timers made meanwhile wait for the next round: one that sets itself again in the past would
// otherwise always be the first.
void EpollLoop::State::run_due_timers() {
  const TimePoint now = clock_.now();
  std::unique_lock lock(mutex_);
  const store::TimerId newest = last_timer_;
  TimerKey ran(TimePoint::min(), 0);
  for (;;) {
    auto next = timers_.upper_bound(ran);
    while (next != timers_.end() && next->first.second > newest) ++next;
    if (next == timers_.end() || next->first.first > now) return;
    ran = next->first;
    Timers::node_type due = timers_.extract(next);
    timer_times_.erase(ran.second);
    lock.unlock();
    guarded(due.mapped());
    due = {};
    lock.lock();
  }
}

void EpollLoop::State::run_posted() {
  {
    const std::lock_guard lock(mutex_);
    running_.swap(posted_);
  }
  while (!running_.empty()) {
    guarded(running_.front());
    running_.pop_front();
  }
}

template <class F>
void EpollLoop::State::guarded(F&& f) {
  try {
    f();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    ++failures_;
  }
}

// ---- the face ----

Result<std::unique_ptr<EpollLoop>> EpollLoop::start() {
  const auto refused = [](const std::error_code& why) {
    return Error(Errc::unavailable, "cannot start the loop thread: " + why.message());
  };
  auto state = std::make_shared<State>();
  if (const int missing = state->missing(); missing != 0) {
    state.reset();  // gives back what there was: even an error text may need a descriptor
    return refused(std::error_code(missing, std::generic_category()));
  }
  try {
    State::start(state);
  } catch (const std::system_error& error) {
    return refused(error.code());
  }
  return std::unique_ptr<EpollLoop>(new EpollLoop(std::move(state)));
}

EpollLoop::EpollLoop(std::shared_ptr<State> state) : state_(std::move(state)) {}

EpollLoop::~EpollLoop() {
  stop();
  // A child must not even destroy the handle of a thread that it does not have: kept for ever.
  if (!state_->in_this_process()) state_->itself = state_;
}

void EpollLoop::post(Task task) { state_->post(std::move(task)); }
store::TimerId EpollLoop::call_at(TimePoint when, Task task) {
  return state_->call_at(when, std::move(task));
}
void EpollLoop::cancel(store::TimerId id) { state_->cancel(id); }
void EpollLoop::watch_fd(int fd, std::uint32_t events, Ready* ready) {
  state_->watch_fd(fd, events, ready);
}
void EpollLoop::stop() {
  if (state_->in_this_process()) state_->stop();
}
bool EpollLoop::on_loop_thread() const { return state_->on_loop_thread(); }
std::uint64_t EpollLoop::failures() const { return state_->failures(); }

}  // namespace holdfast::runtime
