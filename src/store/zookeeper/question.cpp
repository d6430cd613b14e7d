#include "store/zookeeper/question.hpp"

namespace holdfast::store::zookeeper {
namespace {

// Reads are answered by whichever server we speak to, a sync by its leader alone.
bool needs_a_majority(Op op) {
  switch (op) {
    case Op::exists:
    case Op::get_data:
    case Op::get_children:
    case Op::sync:
      return false;
    case Op::create:
    case Op::create_container:
    case Op::remove:
    case Op::set_data:
    case Op::check:
      return true;
  }
  return false;
}

}  // namespace

void Batch::expect(std::size_t questions) {
  open_ = questions;
  if (open_ > 0) return;
  open_ = 1;
  count();
}

void Batch::one_answered() {
  any_answered_ = true;
  count();
}

void Batch::one_failed(NoAnswer no) {
  if (failure_) no.executed |= failure_->executed;
  failure_ = std::move(no);
  count();
}

// Whoever lacks memory when it is told all of it fails once more, and is not told again.
void Batch::count() {
  if (open_ == 0 || --open_ > 0) return;
  if (!failure_) return done_(std::move(answers_));
  failure_->executed |= any_answered_;
  done_(std::move(*failure_));
}

bool Question::read(const AnswerHead& head, std::string_view body) {
  if (which_ == kAll) {
    auto replies = replies_in(head, body, batch_->requests().size());
    if (replies) batch_->replies() = std::move(*replies);
    return replies.has_value();
  }
  auto reply = reply_in(head, body, batch_->requests()[which_].op);
  if (reply) batch_->replies()[which_] = std::move(*reply);
  return reply.has_value();
}

void Question::read_too_much(const AnswerHead& head) {
  for (std::size_t i = first(); i < last(); ++i) {
    batch_->replies()[i] = {.code = Code::too_large, .zxid = head.zxid, .raw = head.raw};
  }
}

// A change that is refused is agreed to like one that is made, and has a number. What our own server refuses by itself
// (enableEagerACLCheck) has none; and an error that we do not know may be of that kind.
bool Question::is_agreed() const {
  bool agreed = false;
  for_each([&](const Request& request, const Reply& reply) {
    const bool known = reply.code != Code::other && reply.code != Code::too_large;
    agreed |= needs_a_majority(request.op) && known && reply.zxid > 0;
  });
  return agreed;
}

}  // namespace holdfast::store::zookeeper
