#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "holdfast/task.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

class Observer;
class Owner;

// Who is served first when several wait.
enum class Order : std::uint8_t {
  any,   // fast: a process may pass the lock on between its own threads for a short while
  fifo,  // strict order of arrival, across processes and threads
};

// How to acquire. Name what you set: `acquire({.wait = 5s, .reason = "nightly invoices"})`.
struct AcquireOptions {
  Duration wait = kForever;                   // how long to wait in line; 0 = one attempt
  Duration lease = std::chrono::seconds(30);  // how long a silent holder survives
  bool renew = true;             // keep it alive in the background; else it ends with its lease
  Duration max_hold = kForever;  // then lost() fires and the lock is released; per Hold
  Order order = Order::any;
  std::string reason{};    // shown to whoever waits; at most kMaxReason bytes
  Owner* owner = nullptr;  // the task this claim belongs to
  std::stop_token stop{};  // gives up the wait, not the lock
};

inline constexpr Duration kMinLease = std::chrono::milliseconds(100);
inline constexpr Duration kMaxLease = std::chrono::hours(24);
inline constexpr std::uint32_t kMaxPermits = 100'000;  // of a semaphore

// Runs a task somewhere else: a thread pool, an event loop. It must run each task exactly once.
using Executor = std::function<void(Task)>;

// How a client behaves. The defaults suit a store in the same data centre.
struct ClientOptions {
  // One question to the store is given up after this long and asked again as the same owner.
  Duration answer_within = std::chrono::seconds(2);
  // A waiting acquire gives up with Errc::unavailable when the store was silent for this long.
  Duration patience = std::chrono::seconds(10);
  // What a lease loses for clocks that run at different rates: parts per million, plus a constant.
  std::uint32_t drift_ppm = 10'000;
  Duration drift_constant = std::chrono::milliseconds(2);
  // Hand-off between threads of this client before the lock goes back to the store.
  std::uint32_t handoff_count = 16;
  Duration handoff_time = std::chrono::milliseconds(20);
  // How long the last of a client and its holds waits for posted releases at its end.
  Duration close_within = std::chrono::seconds(1);
  // What HolderRecord::program says, in kMaxProgram bytes at most; empty = the name of this program.
  std::string program{};
  // Told of everything that happens, on the callbacks thread.
  std::shared_ptr<Observer> observer{};
  // Where then(), resumed coroutines and lost() callbacks run; empty = the client's own thread.
  Executor executor{};
};

}  // namespace holdfast
