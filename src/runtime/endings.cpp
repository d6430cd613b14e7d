#include "runtime/endings.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "runtime/callback_thread.hpp"
#include "runtime/fork_word.hpp"
#include "transport/quiet_thread.hpp"

namespace holdfast::runtime {
namespace {

using Steady = std::chrono::steady_clock;  // a suspended machine need not exit in time

// What guests and callbacks have to let go of a client, before a process that exits no longer waits.
constexpr std::chrono::seconds kLettingGo{1};

struct Running {
  const void* callbacks;
  Steady::time_point until;
  bool late = false;  // begun after the time of guests and callbacks
  std::thread thread{};
  bool given_back = false;
  bool over = false;
  bool awaited = false;  // by the thread that exits
};

// A client, and while the process exits, if it is waited for:
struct Client {
  Endings::Life life;
  bool awaited = false;
  bool winds_up = false;  // when that was asked last
  Steady::time_point winds_up_until{};
  std::uint64_t mark = 0;  // how many tasks its callbacks had been given when it wound up no more
  Steady::time_point callbacks_until{};

  void await(Steady::time_point now);
  bool has_let_go(Steady::time_point now);
};

std::atomic<void*> g_current{nullptr};  // Endings::State*
std::atomic<bool> g_registered{false};

// kForever would overflow.
Steady::time_point at(Steady::time_point begin, Duration length) {
  return begin + std::min<Duration>(length, std::chrono::years(1));
}
Steady::time_point after(Duration length) { return at(Steady::now(), length); }

void Client::await(Steady::time_point now) {
  awaited = true;
  winds_up = true;  // it may have done so until now
  winds_up_until = at(now, life.at_most);
}

// Those that wind up come to an end, which may be told to their callbacks. Those that others can use still are not
// waited for, but for what their callbacks have to do now: there may be no end of it. One of these may let go of the
// client, which is seen only if that is looked at after the callback was seen to be over.
bool Client::has_let_go(Steady::time_point now) {
  if (!awaited) return true;
  const bool called_back = life.callbacks.gone() >= mark || life.callbacks.on_this_thread();
  const bool wound_up = std::exchange(winds_up, now < winds_up_until && life.winds_up());
  if (winds_up) return false;
  if (!wound_up) return called_back || now >= callbacks_until;
  mark = life.callbacks.posted();
  callbacks_until = now + kLettingGo;
  return false;
}

}  // namespace

// Never destroyed, since threads may come to it while the process exits. A forked child has its own: it has none of its
// parent's threads, and one of these may have held the mutex.
struct Endings::State {
  const std::uint64_t born_in = ForkWord::enter();

  // Those that come when the process exits are counted apart, or busy ones would keep it for the whole second.
  std::atomic<std::size_t> turn{0};
  std::array<std::atomic<int>, 2> guests{};

  std::mutex mutex;
  std::condition_variable changed;
  std::list<Running> endings;  // in the order in which they began
  std::list<Client> clients;
  std::optional<Steady::time_point> exiting{};  // since when
  std::thread::id exits_on{};
  bool have_let_go = false;  // guests, callbacks and clients, at the exit
  bool has_waited = false;   // for endings, too

  void note(bool& done) {
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  }
  void reap();
  void exit();
  void leave_the_others();
  void settle(const void* callbacks);
  void let_them_go(std::unique_lock<std::mutex>&);
  void wait_for(std::unique_lock<std::mutex>&, Running&);
};

Endings::State* Endings::current() noexcept {
  auto* const state = static_cast<State*>(g_current.load());
  return state != nullptr && ForkWord::is_current(state->born_in) ? state : nullptr;
}

// A child inherits the handler. It must not register its own: a thread of its parent's may have been doing something of
// the kind, and hold the C library's mutex for ever.
Endings::State& Endings::here() {
  void* before = g_current.load();
  if (State* const state = current()) return *state;
  auto mine = std::make_unique<State>();
  if (!g_registered.exchange(true) && std::atexit(&Endings::wait_at_exit) != 0) {
    g_registered = false;
    throw std::bad_alloc();
  }
  if (!g_current.compare_exchange_strong(before, mine.get())) return *static_cast<State*>(before);
  return *mine.release();
}

// ---- endings ----

void Endings::begin(Ending wanted) {
  State& state = here();
  state.reap();
  std::list<Running> fresh;
  fresh.push_back({.callbacks = wanted.callbacks, .until = after(wanted.at_most)});
  const auto ending = fresh.begin();
  std::unique_lock lock(state.mutex);
  const bool on_the_spot = state.exiting && state.exits_on == std::this_thread::get_id();
  if (state.exiting && !on_the_spot) {
    ending->late = state.have_let_go && Steady::now() - *state.exiting > kLettingGo;
    ending->until = std::min(ending->until, at(*state.exiting + kLettingGo, wanted.at_most));
  }
  ending->thread = transport::start_quiet_thread(
      "holdfast-end", [&state, ending, work = std::move(wanted)]() mutable {
        std::exchange(work.give_back, Task())();
        state.note(ending->given_back);
        std::exchange(work.end, Task())();
        state.note(ending->over);
      });
  state.endings.splice(state.endings.end(), fresh);
  if (on_the_spot) {
    state.wait_for(lock, *ending);
  } else if (state.has_waited) {
    ending->thread.detach();
  }
}

// Not detached when they are over: a library that is unloaded must not lose the ground under them.
void Endings::State::reap() {
  std::list<Running> ended;
  {
    const std::lock_guard lock(mutex);
    for (auto each = endings.begin(); each != endings.end();) {
      const auto it = each++;
      if (it->over && !it->awaited) ended.splice(ended.end(), endings, it);
    }
  }
  for (Running& each : ended) {
    if (each.thread.joinable()) each.thread.join();  // else it was joined at the exit
  }
}

// ---- who may let go last ----

Endings::Guest::Guest() noexcept : state_(current()) {
  if (state_ == nullptr) return;
  for (;;) {
    turn_ = state_->turn % 2;
    ++state_->guests[turn_];
    if (state_->turn % 2 == turn_) return;
    --state_->guests[turn_];
  }
}

Endings::Guest::~Guest() {
  if (state_ != nullptr) --state_->guests[turn_];
}

// In the state of the process in which it was made.
struct Endings::Known::Place {
  State& state;
  std::list<Client>::iterator at;
};

Endings::Known::Known(Life life) : place_(std::make_unique<Place>(Place{here(), {}})) {
  std::list<Client> fresh;
  fresh.push_back({std::move(life)});
  place_->at = fresh.begin();
  const std::lock_guard lock(place_->state.mutex);
  place_->state.clients.splice(place_->state.clients.end(), fresh);
}

Endings::Known::~Known() {
  const std::lock_guard lock(place_->state.mutex);
  place_->state.clients.erase(place_->at);
  place_->state.changed.notify_all();
}

// ---- at the exit ----

void Endings::wait_at_exit() {
  if (State* const state = current()) state->exit();
}

void Endings::State::exit() {
  std::unique_lock lock(mutex);
  exiting = Steady::now();
  exits_on = std::this_thread::get_id();
  for (Client& each : clients) each.await(*exiting);
  let_them_go(lock);
  have_let_go = true;
  for (auto each = endings.begin(); each != endings.end() && !each->late; ++each) {
    wait_for(lock, *each);
  }
  leave_the_others();
}

// Nobody will join them. But the thread that exits may be one of them, and tells itself by that.
void Endings::State::leave_the_others() {
  has_waited = true;
  for (Running& each : endings) {
    if (each.thread.joinable() && each.thread.get_id() != exits_on) each.thread.detach();
  }
}

void Endings::closed(const void* callbacks) {
  if (State* const state = current()) state->settle(callbacks);
}

// If it is not there any more, its end may still go on.
void Endings::State::settle(const void* callbacks) {
  std::unique_lock lock(mutex);
  if (!have_let_go || exits_on != std::this_thread::get_id()) return;
  for (Client& each : clients) {
    each.awaited = false;
    if (each.life.callbacks.id() == callbacks) each.await(Steady::now());
  }
  let_them_go(lock);
  for (Running& each : endings) {
    if (each.callbacks == callbacks) wait_for(lock, each);
  }
}

// They are on their way out, so there is nobody to tell when they are gone.
void Endings::State::let_them_go(std::unique_lock<std::mutex>& lock) {
  const Steady::time_point soon = after(kLettingGo);
  const std::atomic<int>& guests_here = guests[turn++ % 2];
  for (;;) {
    const Steady::time_point now = Steady::now();
    bool gone = guests_here == 0 || now >= soon;
    for (Client& each : clients) gone &= each.has_let_go(now);
    if (gone) return;
    changed.wait_for(lock, std::chrono::microseconds(50));
  }
}

// One whose time is up is left to itself. One that may be waiting for this very thread has given back by then all that
// it had. What a client is given to keep may end the process when it goes, on the very thread of that end.
void Endings::State::wait_for(std::unique_lock<std::mutex>& lock, Running& ending) {
  if (ending.thread.get_id() == std::this_thread::get_id()) return;
  ending.awaited = true;
  const bool awaits_us = ending.callbacks != nullptr && ending.callbacks == CallbackThread::here();
  changed.wait_until(lock, ending.until,
                     [&] { return awaits_us ? ending.given_back : ending.over; });
  if (ending.over) {
    std::thread ended = std::move(ending.thread);
    lock.unlock();
    if (ended.joinable()) ended.join();
    lock.lock();
  }
  ending.awaited = false;
}

}  // namespace holdfast::runtime
