#include "api/acquire_op.hpp"

#include "runtime/fork_word.hpp"

namespace holdfast::detail {

std::shared_ptr<AcquireOp> AcquireOp::start(const ClientHandle& client, core::AcquireWanted wanted,
                                            std::stop_token stop, runtime::Asker asker) {
  const auto op = std::make_shared<AcquireOp>();
  op->driver_ = client.driver();
  op->generation_ = client.generation();
  op->to_be_ = std::make_unique<HoldState>(client.driver(), client.generation());
  op->op_ = client.driver()->acquire(std::move(wanted), op, asker);
  if (stop.stop_possible()) op->on_stop_.emplace(std::move(stop), GiveUp{op});
  return op;
}

std::shared_ptr<AcquireOp> AcquireOp::failed(const ClientHandle& client, Error error) {
  const auto op = std::make_shared<AcquireOp>();
  op->driver_ = client.driver();
  op->generation_ = client.generation();
  op->result_.emplace(std::move(error));
  op->finish();
  return op;
}

bool AcquireOp::forked() const { return !runtime::ForkWord::is_current(generation_); }

void AcquireOp::acquired(Result<core::HoldCellPtr> result) {
  bool somebody_waits = false;
  {
    const std::lock_guard lock(mutex_);
    if (result) {
      result_.emplace(HoldState::make_hold(std::move(to_be_), std::move(*result)));
    } else {
      result_.emplace(result.error());
    }
    somebody_waits = static_cast<bool>(continuation_);
  }
  finish();
  forget_timer();
  if (somebody_waits) run_continuation_soon();
}

void AcquireOp::forget_timer() {
  if (const store::TimerId timer = gives_up_.exchange(0)) driver_->forget_timer(timer);
}

Result<Hold> AcquireOp::take() {
  if (forked()) return Error(Errc::forked, "forked: the request belongs to the parent process");
  const std::lock_guard lock(mutex_);
  if (!result_)
    return Error(Errc::invalid_argument, "invalid_argument: this result was taken before");
  Result<Hold> result = std::move(*result_);
  result_.reset();
  return result;
}

void AcquireOp::wait() {
  if (done() || forked()) return;
  driver_->block(std::static_pointer_cast<runtime::BlockedOp>(shared_from_this()));
}

void AcquireOp::continue_with(Task task) {
  if (forked()) return task();  // the parent's threads are not here
  {
    const std::lock_guard lock(mutex_);
    continuation_ = std::move(task);
    if (!result_) return;  // acquired() will see it
  }
  run_continuation_soon();
}

// The continuation stays here until it runs, so that it can be forgotten up to that moment.
void AcquireOp::run_continuation_soon() {
  driver_->surely_call_back([self = shared_from_this()] {
    Task task;
    {
      const std::lock_guard lock(self->mutex_);
      task = std::exchange(self->continuation_, Task());
    }
    if (task) task();
  });
}

void AcquireOp::forget_continuation() {
  if (forked()) return;
  Task forgotten;  // destroyed outside the mutex
  const std::lock_guard lock(mutex_);
  forgotten = std::exchange(continuation_, Task());
}

void AcquireOp::give_up(Errc why) {
  if (!done() && !forked()) driver_->give_up(op_, why);
}

void AcquireOp::give_up_after(Duration limit) {
  if (done() || forked()) return;
  if (limit <= Duration::zero()) return driver_->give_up(op_, Errc::timed_out);
  const TimePoint end = later(driver_->now(), limit);
  if (end == kNever) return;
  forget_timer();  // of an earlier limit
  gives_up_ = driver_->give_up_at(op_, end);
  if (done()) forget_timer();  // it came meanwhile and did not see the timer
}

}  // namespace holdfast::detail
