#include "holdfast/hold.hpp"

#include <new>

#include "api/errors.hpp"
#include "api/hold_state.hpp"
#include "runtime/fork_word.hpp"

namespace holdfast {

namespace {

// A release or verification that its caller waits for.
class VoidOp final : public runtime::VoidSink, public runtime::BlockedOp {
 public:
  void finished(Result<void> result) override {
    result_ = std::move(result);
    finish();
  }
  runtime::BlockedOp* blocked() override { return this; }
  Result<void> take() { return std::move(result_); }

 private:
  Result<void> result_;
};

}  // namespace

namespace detail {

HoldState::~HoldState() {
  if (!cell_ || released_.exchange(true) || forked()) return;
  try {
    driver_->release(cell_);
  } catch (const std::bad_alloc&) {
    cell_->dropped = true;
  }
}

Hold HoldState::make_hold(std::unique_ptr<HoldState> state, core::HoldCellPtr cell) noexcept {
  state->cell_ = std::move(cell);
  return Hold(std::move(state));
}

core::HoldCellPtr HoldState::cell_of(const Hold& hold, const ClientHandle& client) {
  const HoldState* const state = hold.state_.get();
  if (state == nullptr || state->released_ || state->driver_ != client.driver()) return nullptr;
  return state->cell_;
}

void HoldState::forget(Hold& hold) {
  hold.state_->released_ = true;
  hold.state_.reset();
}

bool HoldState::forked() const { return !runtime::ForkWord::is_current(generation_); }

bool HoldState::valid() const { return !forked() && driver_->now() < cell_->until(); }

Duration HoldState::remaining() const {
  return forked() ? Duration::zero() : left_until(cell_->until(), driver_->now());
}

Error HoldState::misuse(Errc code, const char* text) const {
  return error_about(code, cell_->name, text);
}

Result<void> HoldState::verify() const {
  if (forked()) return misuse(Errc::forked, "the Hold belongs to the parent process");
  if (released_) return misuse(Errc::not_owner, "it was released before");
  try {
    const auto op = std::make_shared<VoidOp>();
    driver_->verify(cell_, op, runtime::Asker::waits);
    driver_->block(op);
    return op->take();
  } catch (const std::bad_alloc&) {
    return Error(Errc::out_of_memory);
  }
}

Result<void> HoldState::release() {
  if (forked()) return misuse(Errc::forked, "the Hold belongs to the parent process");
  if (released_.exchange(true)) return misuse(Errc::not_owner, "it was released before");
  try {
    const auto op = std::make_shared<VoidOp>();
    driver_->release(cell_, op, runtime::Asker::waits);
    driver_->block(op);
    return op->take();
  } catch (const std::bad_alloc&) {
    released_ = false;  // the next try, or the end of this object, sees to it
    return Error(Errc::out_of_memory);
  }
}

}  // namespace detail

Hold::Hold(std::unique_ptr<detail::HoldState> state) : state_(std::move(state)) {}
Hold::Hold(Hold&&) noexcept = default;
Hold& Hold::operator=(Hold&&) noexcept = default;
Hold::~Hold() = default;

std::string_view Hold::name() const { return state_->cell().name.bytes(); }
FencingToken Hold::fence() const { return state_->cell().fence; }
std::span<const std::uint32_t> Hold::slots() const { return state_->cell().slots; }
std::string Hold::owner() const { return store::to_string(state_->cell().owner); }
bool Hold::valid() const { return state_ && state_->valid(); }
TimePoint Hold::valid_until() const { return state_->cell().until(); }
Duration Hold::remaining() const { return state_ ? state_->remaining() : Duration::zero(); }
std::stop_token Hold::lost() const { return state_->cell().lost.get_token(); }
Result<void> Hold::verify() const { return state_->verify(); }
Result<void> Hold::release() { return state_->release(); }

}  // namespace holdfast
