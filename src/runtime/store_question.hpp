#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "holdfast/store/call.hpp"
#include "runtime/blocked_op.hpp"
#include "runtime/driver.hpp"

namespace holdfast::runtime {

// A question to the store that the engine has no part in, and that its caller waits for.
//
// Guarantees   The first of the store's answer and the end of answer_within counts.
// Lifetime     Keeps itself until the store has answered, which may be after its caller went on.
template <class Reply>
class StoreQuestion final : public BlockedOp,
                            store::Answers<Reply>,
                            public std::enable_shared_from_this<StoreQuestion<Reply>> {
 public:
  // verb(store, call) asks it.
  template <class Verb>
  static Reply ask(Driver& driver, Verb verb) {
    const auto question = std::make_shared<StoreQuestion>();
    const TimePoint deadline = later(driver.now(), driver.answer_within());
    question->self_ = question;
    verb(driver.store(), store::Call<Reply>(*question, 0, deadline, /*may_block=*/true));
    const auto timer = driver.call_at(
        deadline, [question] { question->settle(store::NoAnswer{.text = "it was silent"}); });
    driver.block(question);
    driver.forget_timer(timer);
    return std::move(*question->reply_);
  }

 private:
  void answered(store::CallId, Reply reply) override {
    const auto self = std::move(self_);
    settle(std::move(reply));
  }

  void settle(Reply reply) {
    {
      const std::lock_guard lock(mutex_);
      if (reply_) return;
      reply_.emplace(std::move(reply));
    }
    finish();
  }

  std::shared_ptr<StoreQuestion> self_;
  std::mutex mutex_;
  std::optional<Reply> reply_;
};

}  // namespace holdfast::runtime
