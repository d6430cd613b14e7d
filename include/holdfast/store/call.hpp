#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

#include "holdfast/store/replies.hpp"
#include "holdfast/time.hpp"

namespace holdfast::store {

using CallId = std::uint64_t;

// Takes the answers to one kind of question.
template <class Reply>
class Answers {
 public:
  virtual void answered(CallId, Reply) = 0;

 protected:
  ~Answers() = default;
};

// The right, and the duty, to answer one question: move-only, answered exactly once, on any thread,
// possibly before the verb returns.
//
// Guarantees   A Call that is dropped unanswered answers no_answer by itself.
// Deadline     By deadline() the engine stops waiting: do not spend effort after it. The true answer
//              is still worth giving if it comes later (a grant that arrives too late is released
//              at once instead of blocking others for a lease), else answer no_answer as soon as it
//              cannot come any more. There is no cancel.
// Blocking     may_block() says that the thread which asks is going to wait for the answer anyway:
//              only then may a store do slow work, like writing a file, before its verb returns.
// Lifetime     The arguments of the verb live only during the verb; the Call lives as long as needed.
//              An answer may be what the store's end waited for: a thread touches nothing of the store
//              after it gave one, unless close() waits for that thread.
template <class Reply>
class [[nodiscard]] Call {
 public:
  Call() = default;
  Call(Answers<Reply>& to, CallId id, TimePoint deadline, bool may_block = false)
      : to_(&to), id_(id), deadline_(deadline), may_block_(may_block) {}
  Call(Call&& other) noexcept
      : to_(std::exchange(other.to_, nullptr)),
        id_(other.id_),
        deadline_(other.deadline_),
        may_block_(other.may_block_) {}
  Call& operator=(Call&& other) noexcept {
    if (this != &other) {
      drop();
      to_ = std::exchange(other.to_, nullptr);
      id_ = other.id_;
      deadline_ = other.deadline_;
      may_block_ = other.may_block_;
    }
    return *this;
  }
  ~Call() { drop(); }

  TimePoint deadline() const { return deadline_; }
  bool may_block() const { return may_block_; }
  bool open() const { return to_ != nullptr; }

  void answer(Reply reply) {
    assert(open());
    std::exchange(to_, nullptr)->answered(id_, std::move(reply));
  }

 private:
  void drop() {
    if (open()) answer(Reply(NoAnswer{}));
  }

  Answers<Reply>* to_ = nullptr;
  CallId id_ = 0;
  TimePoint deadline_{};
  bool may_block_ = false;
};

}  // namespace holdfast::store
