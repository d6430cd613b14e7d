#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "api/client_handle.hpp"
#include "api/hold_state.hpp"
#include "core/events.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/pending.hpp"
#include "runtime/driver.hpp"

namespace holdfast::detail {

// One acquire on its way: what a Pending<Hold> looks at and the driver finishes.
class AcquireOp final : public PendingState<Hold>,
                        public runtime::AcquireSink,
                        public runtime::BlockedOp,
                        public std::enable_shared_from_this<AcquireOp> {
 public:
  static std::shared_ptr<AcquireOp> start(const ClientHandle&, core::AcquireWanted, std::stop_token,
                                          runtime::Asker);
  static std::shared_ptr<AcquireOp> failed(const ClientHandle&, Error);

  bool ready() const override { return done(); }
  Result<Hold> take() override;
  void wait() override;
  void continue_with(Task) override;
  void forget_continuation() override;
  void give_up(Errc) override;
  void give_up_after(Duration) override;

  void acquired(Result<core::HoldCellPtr>) override;
  runtime::BlockedOp* blocked() override { return this; }

 private:
  void run_continuation_soon();
  void forget_timer();
  bool forked() const;

  std::shared_ptr<runtime::Driver> driver_;
  std::uint64_t generation_ = 0;
  std::atomic<core::OpId> op_{0};
  std::atomic<store::TimerId> gives_up_{0};  // 0: no timer

  std::mutex mutex_;                  // guards what is below
  std::unique_ptr<HoldState> to_be_;  // the Hold's, until there is one
  std::optional<Result<Hold>> result_;
  Task continuation_;

  struct GiveUp {
    std::weak_ptr<AcquireOp> op;
    void operator()() const {
      if (const auto self = op.lock()) self->give_up(Errc::cancelled);
    }
  };
  std::optional<std::stop_callback<GiveUp>> on_stop_;
};

}  // namespace holdfast::detail
