#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "holdfast/store/call.hpp"

namespace holdfast::test {

// Where a test receives the answer to one question:
//
//   Answer<store::GrantReply> answer;
//   store.try_grant(request, answer.call());
//   const auto* granted = answer.get<store::Granted>();   // nullptr: it is something else
//
// Lifetime     Must outlive the Call.
// Blocking     reply() and get() wait for an answer that is not there yet, for kPatience at most.
template <class Reply>
class Answer final : public store::Answers<Reply> {
 public:
  static constexpr std::chrono::seconds kPatience{60};

  store::Call<Reply> call(TimePoint deadline = kNever) { return {*this, 1, deadline}; }

  bool there() const {
    const std::lock_guard lock(mutex_);
    return reply_.has_value();
  }

  const Reply& reply() const {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, kPatience, [&] { return reply_.has_value(); })) {
      throw std::runtime_error("a store has not answered for 60 s");
    }
    return *reply_;
  }

  template <class Expected>
  const Expected* get() const {
    return std::get_if<Expected>(&reply());
  }

  void answered(store::CallId, Reply reply) override {
    const std::lock_guard lock(mutex_);
    if (reply_) throw std::logic_error("a store has answered twice");
    reply_ = std::move(reply);
    arrived_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable arrived_;
  std::optional<Reply> reply_;
};

}  // namespace holdfast::test
