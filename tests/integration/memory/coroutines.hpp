// Two kinds of coroutine that a program might have, as different as they can be.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace holdfast::test {

// Starts at once, belongs to nobody, and goes when it is through.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

// Starts when it is told to or awaited, keeps its value, and goes with its owner wherever it stands.
template <class T>
class Lazy {
 public:
  struct promise_type {
    Lazy get_return_object() { return Lazy(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct GoOn {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle self) noexcept {
          const auto next = self.promise().awaited_by;
          return next ? next : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return GoOn{};
    }
    void return_value(T given) { value.emplace(std::move(given)); }
    void unhandled_exception() { std::terminate(); }

    std::optional<T> value;
    std::coroutine_handle<> awaited_by;
  };
  using Handle = std::coroutine_handle<promise_type>;

  Lazy(Lazy&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Lazy& operator=(Lazy&&) = delete;
  ~Lazy() {
    if (handle_) handle_.destroy();
  }

  void start() { handle_.resume(); }
  bool done() const { return handle_.done(); }
  T take() { return std::move(*handle_.promise().value); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().awaited_by = awaiting;
    return handle_;
  }
  T await_resume() { return take(); }

 private:
  explicit Lazy(Handle handle) : handle_(handle) {}
  Handle handle_;
};

}  // namespace holdfast::test
