// Waiting in tests that have real threads. The limits only end a test that has failed.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

namespace holdfast::test {

inline constexpr std::chrono::seconds kSoon{30};

// Whether it gets its value soon.
template <class Future>
bool comes(const Future& value) {
  return value.wait_for(kSoon) == std::future_status::ready;
}

// A value that one thread tells another, once. Copies are the same one: whoever tells it keeps it
// alive until it is told (a std::promise must not go while set_value() is still returning).
template <class T>
class Told {
 public:
  void tell(T value) const { promise_->set_value(std::move(value)); }
  bool comes() const { return test::comes(value_); }
  T get() { return value_.get(); }

 private:
  std::shared_ptr<std::promise<T>> promise_ = std::make_shared<std::promise<T>>();
  std::shared_future<T> value_ = promise_->get_future().share();
};

// The same without a value.
class Signal {
 public:
  void give() const { told_.tell(true); }
  bool comes() const { return told_.comes(); }

 private:
  Told<bool> told_;
};

// Whether the condition turns true soon: for what tells nobody when it changes.
template <class Condition>
bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kSoon;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace holdfast::test
