#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace holdfast {

// A function to call once, which may own move-only things (C++23 has std::move_only_function).
class Task {
 public:
  Task() = default;

  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, Task> && std::invocable<std::decay_t<F>&>)
      Task(F&& f)
      : body_(std::make_unique<Body<std::decay_t<F>>>(std::forward<F>(f))) {}

  explicit operator bool() const { return body_ != nullptr; }
  void operator()() { body_->run(); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void run() = 0;
  };
  template <class F>
  struct Body final : Base {
    template <class G>
    explicit Body(G&& g) : f(std::forward<G>(g)) {}
    void run() override { f(); }
    F f;
  };

  std::unique_ptr<Base> body_;
};

}  // namespace holdfast
