#pragma once

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
struct FinishVoid {
  OpId op = 0;
  Result<void> result;
};
struct TellLost {
  HoldCellPtr hold;
};

using Action = std::variant<AskGrant, AskRenew, AskRelease, AskWithdraw, StartWatch, StopWatch,
                            FinishAcquire, FinishVoid, TellLost>;

struct Outbox {
  std::vector<Action> actions;
  std::vector<LockEvent> events;  // for the Observer, in order
};

}  // namespace holdfast::core
