// Waits for locks without blocking a thread: with callbacks, and in coroutines.
//
//   async [URL]      the store to use; memory: if none is given, to have a look
#include <chrono>
#include <coroutine>
#include <exception>
#include <future>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <utility>

using namespace std::chrono_literals;

namespace {

// Callbacks run one at a time on a thread of the client's, or where ClientOptions::executor puts them.
void with_a_callback(const holdfast::Client& client, std::promise<bool>& done) {
  client.mutex("reports")
      .async_acquire({.wait = 5s})
      .then([&](holdfast::Result<holdfast::Hold> hold) {
        if (hold) {
          std::cout << "a callback has \"" << hold->name() << "\", fence " << hold->fence().value()
                    << '\n';
        } else {
          std::cerr << hold.error().text() << '\n';
        }
        done.set_value(hold.has_value());
      });  // the lock is released when the callback drops its Hold
}

// Any coroutine type can await a lock. This is the smallest one; a program will have its own.
struct Job {
  struct promise_type {
    Job get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Job in_a_coroutine(const holdfast::Client& client, std::promise<bool>& done) {
  // Name the request before awaiting it: GCC 12 destroys options that stand inside a co_await twice.
  auto request = client.mutex("reports").async_acquire({.wait = 5s});
  holdfast::Result<holdfast::Hold> hold = co_await std::move(request);
  if (!hold) {
    std::cerr << hold.error().text() << '\n';
    done.set_value(false);
    co_return;
  }
  std::cout << "a coroutine has \"" << hold->name() << "\", fence " << hold->fence().value()
            << '\n';
  done.set_value(hold->release().has_value());
}

}  // namespace

int main(int argc, char** argv) {
  std::promise<bool> callback;
  std::promise<bool> coroutine;
  const auto client = holdfast::connect(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().text() << '\n';
    return 1;
  }
  with_a_callback(*client, callback);
  in_a_coroutine(*client, coroutine);

  // Dropping a request gives it up. What was granted meanwhile is given back.
  { const auto dropped = client->mutex("reports").async_acquire(); }

  const bool good = callback.get_future().get() && coroutine.get_future().get();
  return good ? 0 : 1;
}
