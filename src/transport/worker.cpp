#include "transport/worker.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "transport/quiet_thread.hpp"

namespace holdfast::transport {
namespace {

using Steady = std::chrono::steady_clock;  // for the pace only: no deadline hangs on it

thread_local const Worker* t_worker = nullptr;

// What lacks memory is dropped, and with it whatever it was to answer. A bump is not the last one.
template <class F>
void guarded(F& f) {
  try {
    f();
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

bool Worker::start() {
  if (thread_.joinable()) return true;
  try {
    thread_ = start_quiet_thread(thread_name_, [this] { run(); });
    return true;
  } catch (const std::system_error&) {  // no more threads: tried again with the next job
    return false;
  }
}

void Worker::bump() {
  ++own_bumps_;
  futex_bump(*word_);
}

bool Worker::post(Task job) {
  const std::lock_guard lock(mutex_);
  // Dropped without the mutex, and with it whatever it was to answer.
  if (stopping_ || !start()) return false;
  jobs_.push_back(std::move(job));
  bump();
  return true;
}

void Worker::listen_to(FutexWord& word) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  FutexWord& before = *std::exchange(word_, &word);
  ++own_bumps_;
  futex_bump(before);
}

void Worker::listen(Duration at_least_every) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  every_ = at_least_every;
  start();
  bump();
}

bool Worker::on_this_thread() const { return t_worker == this; }

void Worker::run() {
  t_worker = this;
  FutexWord* word = nullptr;
  std::uint32_t seen = 0, seen_own = 0;
  Steady::time_point called = Steady::now();
  const auto call = [&] {
    guarded(on_bump_);
    called = Steady::now();
  };
  while (true) {
    // The word is read first: a bump after this makes futex_wait() return at once.
    Duration every = kForever;
    bool others = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      const std::uint32_t now = word_->load();
      // Nobody knows what a word that is new here has been through.
      others = word != word_ || now - seen != own_bumps_ - seen_own;
      word = word_;
      seen = now;
      seen_own = own_bumps_;
      running_.swap(jobs_);
      every = every_;
    }
    for (; !running_.empty(); running_.pop_front()) guarded(running_.front());
    if (others) call();
    // Jobs cut the wait short, so it is counted from the last call.
    const auto quiet = [&] { return Duration(Steady::now() - called); };
    futex_wait(*word, seen,
               every == kForever ? every : std::max(every - quiet(), Duration::zero()));
    if (quiet() >= every) call();
  }
}

void Worker::stop() {
  std::thread ended;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;  // the word may be gone by now
    ended = std::move(thread_);
    bump();
  }
  if (ended.joinable()) ended.join();
  running_.swap(jobs_);  // nobody else looks at either any more
  running_.clear();
}

}  // namespace holdfast::transport
