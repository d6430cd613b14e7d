#include "cli/inspect/lock_state.hpp"

#include <algorithm>

#include "cli/text/shown.hpp"

namespace holdfast::cli {

bool is_held(const LockInfo& lock) { return !lock.holders.empty(); }

bool is_stale(const LockInfo& lock) {
  return std::all_of(lock.holders.begin(), lock.holders.end(),
                     [](const ClaimInfo& holder) { return holder.lease_left <= Duration::zero(); });
}

std::string shown_program(const HolderRecord& record) {
  const std::string& who = record.program.empty() ? record.owner : record.program;
  return who.empty() ? "somebody" : shown(who);
}

std::string shown_place(const HolderRecord& record) {
  return shown(record.host) + ":" + std::to_string(record.pid);
}

}  // namespace holdfast::cli
