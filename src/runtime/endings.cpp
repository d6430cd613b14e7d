#include "runtime/endings.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "runtime/fork_word.hpp"
#include "transport/quiet_thread.hpp"

namespace holdfast::runtime {
namespace {

using Steady = std::chrono::steady_clock;  // a suspended machine need not exit in time

struct Ending {
  std::thread::id begun_on;
  Steady::time_point until;
  std::thread thread{};
  bool over = false;
};

struct Client {
  std::function<bool()> visited;
  Duration at_most;
};

std::atomic<void*> g_current{nullptr};  // Endings::State*

// kForever would overflow.
Steady::time_point after(Duration length) {
  return Steady::now() + std::min<Duration>(length, std::chrono::years(1));
}

}  // namespace

// Never destroyed, since threads may come to it while the process exits. A forked child has its own: it has none of its
// parent's threads, and one of these may have held the mutex.
struct Endings::State {
  const std::uint64_t born_in = ForkWord::enter();
  std::mutex mutex;
  std::condition_variable changed;
  std::list<Ending> endings;
  std::list<Client> clients;
  std::optional<Steady::time_point> exiting{};  // since when

  void finish(std::list<Ending>::iterator ending) {
    const std::lock_guard lock(mutex);
    ending->over = true;
    changed.notify_all();
    if (exiting) return;  // it is joined
    ending->thread.detach();
    endings.erase(ending);
  }

  void wait_for_visitors(std::unique_lock<std::mutex>&);
  void wait_for_endings(std::unique_lock<std::mutex>&);
};

Endings::State& Endings::here() {
  void* before = g_current.load();
  auto* const state = static_cast<State*>(before);
  if (state != nullptr && ForkWord::is_current(state->born_in)) return *state;
  auto mine = std::make_unique<State>();
  if (!g_current.compare_exchange_strong(before, mine.get())) return *static_cast<State*>(before);
  std::atexit(&Endings::wait_at_exit);
  return *mine.release();
}

void Endings::begin(Task end, Duration at_most) {
  State& state = here();
  std::atexit(&Endings::wait_at_exit);  // before anything goes that is there now
  const std::lock_guard lock(state.mutex);
  state.endings.push_back({.begun_on = std::this_thread::get_id(), .until = after(at_most)});
  const auto ending = std::prev(state.endings.end());
  try {
    ending->thread = transport::start_quiet_thread(
        "holdfast-end", [&state, ending, work = std::move(end)]() mutable {
          std::exchange(work, Task())();
          state.finish(ending);
        });
  } catch (...) {
    state.endings.erase(ending);
    throw;
  }
}

// In the state of the process in which it was made.
struct Endings::Visited::Place {
  State& state;
  std::list<Client>::iterator at;
};

Endings::Visited::Visited(Asked asked, Duration at_most)
    : place_(std::make_unique<Place>(Place{here(), {}})) {
  const std::lock_guard lock(place_->state.mutex);
  place_->state.clients.push_back({std::move(asked), at_most});
  place_->at = std::prev(place_->state.clients.end());
}

Endings::Visited::~Visited() {
  const std::lock_guard lock(place_->state.mutex);
  place_->state.clients.erase(place_->at);
  place_->state.changed.notify_all();
}

// ---- at the exit ----

// More than once: each ending sees to it, and a forked child has inherited its parent's handlers.
void Endings::wait_at_exit() {
  auto* const state = static_cast<State*>(g_current.load());
  if (!ForkWord::is_current(state->born_in)) return;
  std::unique_lock lock(state->mutex);
  if (!state->exiting) state->exiting = Steady::now();
  state->wait_for_visitors(lock);
  state->wait_for_endings(lock);
}

// They are on their way out, so there is nobody to tell when they are gone.
void Endings::State::wait_for_visitors(std::unique_lock<std::mutex>& lock) {
  const auto waits = [&](const Client& each) {
    return Steady::now() - *exiting < each.at_most && each.visited();
  };
  while (std::any_of(clients.begin(), clients.end(), waits))
    changed.wait_for(lock, std::chrono::microseconds(50));
}

// One whose time is up is left to itself.
void Endings::State::wait_for_endings(std::unique_lock<std::mutex>& lock) {
  for (Ending& each : endings) {
    if (each.begun_on == std::this_thread::get_id()) continue;
    if (!changed.wait_until(lock, each.until, [&] { return each.over; })) continue;
    if (!each.thread.joinable()) continue;  // an earlier handler has waited for it
    lock.unlock();
    each.thread.join();
    lock.lock();
  }
}

}  // namespace holdfast::runtime
