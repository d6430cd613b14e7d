#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/fence.hpp"
#include "holdfast/holder_record.hpp"
#include "holdfast/time.hpp"

namespace holdfast {

// One who holds a lock or waits for it, as the store sees it.
struct ClaimInfo {
  HolderRecord record;
  std::string mode{};     // "exclusive", "shared", "upgradeable", "2 of 8"
  FencingToken fence{};   // of a holder
  Duration lease_left{};  // a holder's, or how long a silent waiter keeps its place
  bool offered = false;   // handed over, and the new holder has not said yet that it is there
  bool revoked = false;   // by force_release(): it is free when its holder lets go, or at lease end
};

// A lock that is held or waited for. Others leave nothing to see.
struct LockInfo {
  std::string name;
  std::string kind{};  // "mutex", "shared_mutex", "semaphore"
  std::string mode;    // how it is held now: "exclusive", "shared", "upgradeable", "3 of 8"
  std::vector<ClaimInfo> holders;
  std::vector<ClaimInfo> line;  // in the order in which they will be served
};

// Which hold to end, and how.
struct ForceOptions {
  FencingToken fence{};  // of the hold that is meant; if another has it by now, nothing happens
  bool now = false;      // free the lock at once. Its holder may still be at work: see SAFETY
  std::string reason{};  // at most kMaxReason bytes
};

}  // namespace holdfast
