#pragma once

#include <new>
#include <optional>
#include <variant>
#include <vector>

#include "core/hold_cell.hpp"
#include "core/ids.hpp"
#include "holdfast/observer.hpp"
#include "holdfast/result.hpp"
#include "holdfast/store/call.hpp"
#include "holdfast/store/requests.hpp"

// Everything an engine can want done. It does none of it itself.
namespace holdfast::core {

struct AskGrant {
  store::CallId call = 0;
  TimePoint deadline{};
  store::GrantRequest request;
};
struct AskRenew {
  store::CallId call = 0;
  TimePoint deadline{};
  std::vector<store::Renewal> renewals;
};
struct AskRelease {
  store::CallId call = 0;
  TimePoint deadline{};
  store::HoldKey key;
};
struct AskWithdraw {
  store::CallId call = 0;
  TimePoint deadline{};
  store::ClaimKey key;
};
struct StartWatch {
  ClaimNo claim = 0;
  store::ClaimKey key;
};
struct StopWatch {
  ClaimNo claim = 0;
};
// An acquire ended; null means that the error says why.
struct FinishAcquire {
  OpId op = 0;
  HoldCellPtr hold;
  std::optional<Error> error;
};
// The lock is passed on so quickly that this waiter's thread had better not go to sleep yet.
struct StayAwake {
  OpId op = 0;
};
struct FinishVoid {
  OpId op = 0;
  Result<void> result;
};
struct TellLost {
  HoldCellPtr hold;
};

using Action = std::variant<AskGrant, AskRenew, AskRelease, AskWithdraw, StartWatch, StopWatch,
                            FinishAcquire, StayAwake, FinishVoid, TellLost>;

struct Outbox {
  // `watched`: there is somebody to tell of events.
  explicit Outbox(bool watched = true) : watched_(watched) {
    try {
      actions.reserve(2);  // nearly always enough; of more the allocator has none at hand
    } catch (const std::bad_alloc&) {
      // Perhaps there is nothing to be done.
    }
  }

  // Without memory the observer misses an event; nothing is left undone for it.
  template <class Make>
  void tell(Make&& make) {
    if (!watched_) return;
    try {
      events.push_back(make());
    } catch (const std::bad_alloc&) {
    }
  }

  std::vector<Action> actions;
  std::vector<LockEvent> events;  // for the Observer, in order

 private:
  bool watched_;
};

}  // namespace holdfast::core
