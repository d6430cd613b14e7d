#include "cli/inspect/lock_state.hpp"

#include <algorithm>

#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"
#include "cli/text/wall_text.hpp"

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
  if (record.host.empty() && record.pid == 0) return "-";
  return shown(record.host) + ":" + std::to_string(record.pid);
}

bool tells_since(const HolderRecord& record) { return record.since != WallTime(); }

std::string shown_since(const HolderRecord& record, WallTime now) {
  return local_text(record.since, now) + " (" + duration_text(age_of(record.since, now)) + ")";
}

}  // namespace holdfast::cli
