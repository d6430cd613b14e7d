#include "runtime/callback_thread.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/fork_word.hpp"
#include "transport/quiet_thread.hpp"

namespace holdfast::runtime {

// Shared with the thread, which may outlive the CallbackThread.
struct CallbackThread::State {
  const std::uint64_t born_in = ForkWord::enter();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  std::thread thread;
  bool running = false;  // the thread takes tasks, or will
  bool stopping = false;
  std::atomic<std::uint64_t> posted{0};
  std::atomic<std::uint64_t> gone{0};
  std::uint64_t failures = 0;
  std::shared_ptr<State> itself;  // only in a forked child

  static void start(const std::shared_ptr<State>&);
  void run();
  void run_one(Task);
};

namespace {

thread_local const void* t_running_for = nullptr;

}  // namespace

// Under the mutex.
void CallbackThread::State::start(const std::shared_ptr<State>& state) {
  if (state->running) return;
  try {
    state->thread = transport::start_quiet_thread("holdfast-calls", [state] { state->run(); });
    state->running = true;
  } catch (const std::system_error&) {
    // Too many threads just now. The tasks stay, in order, and the next post comes here again.
  }
}

void CallbackThread::State::run() {
  t_running_for = this;
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return stopping || !tasks.empty(); });
    if (tasks.empty()) break;
    Task task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    run_one(std::move(task));
    ++gone;
    lock.lock();
  }
  running = false;
  changed.notify_all();
}

// The task is also destroyed in here, outside the mutex: what it owned is somebody else's code.
void CallbackThread::State::run_one(Task task) {
  try {
    task();
  } catch (...) {
    const std::lock_guard lock(mutex);
    ++failures;
  }
}

CallbackThread::CallbackThread() : state_(std::make_shared<State>()) {}

CallbackThread::~CallbackThread() {
  stop();
  // A child must not even destroy the handle of a thread that it does not have: kept for ever.
  if (!ForkWord::is_current(state_->born_in)) state_->itself = state_;
}

void CallbackThread::post(Task task) {
  const std::lock_guard lock(state_->mutex);
  if (state_->stopping && !on_this_thread()) return;
  state_->tasks.push_back(std::move(task));
  ++state_->posted;
  State::start(state_);
  state_->changed.notify_one();
}

bool CallbackThread::on_this_thread() const { return t_running_for == state_.get(); }

void CallbackThread::stop() {
  if (!ForkWord::is_current(state_->born_in)) return;
  std::unique_lock lock(state_->mutex);
  if (!state_->tasks.empty()) State::start(state_);
  state_->stopping = true;
  state_->changed.notify_all();
  if (on_this_thread()) {
    if (state_->thread.joinable()) state_->thread.detach();
    return;
  }
  state_->changed.wait(lock, [this] { return !state_->running; });
  while (!state_->tasks.empty()) {  // for which there was no thread
    Task never_run = std::move(state_->tasks.front());
    state_->tasks.pop_front();
    lock.unlock();
    never_run = {};
    ++state_->gone;
    lock.lock();
  }
  std::thread ended = std::move(state_->thread);
  lock.unlock();
  if (ended.joinable()) ended.join();
}

const void* CallbackThread::here() { return t_running_for; }

std::uint64_t CallbackThread::posted() const { return state_->posted; }

std::uint64_t CallbackThread::gone() const { return state_->gone; }

std::uint64_t CallbackThread::failures() const {
  const std::lock_guard lock(state_->mutex);
  return state_->failures;
}

}  // namespace holdfast::runtime
