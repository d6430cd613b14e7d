#include <algorithm>

#include "cli/chosen_store.hpp"
#include "cli/command.hpp"
#include "cli/inspect/lock_state.hpp"
#include "cli/json.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/terminal.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"
#include "cli/text/table.hpp"

namespace holdfast::cli {
namespace {

// Several filters widen the list: held or waiting.
bool wanted(const LockInfo& lock, const Arguments& arguments) {
  const bool any = arguments.has("held") || arguments.has("waiting") || arguments.has("stale");
  return !any || (arguments.has("held") && is_held(lock)) ||
         (arguments.has("waiting") && !lock.line.empty()) ||
         (arguments.has("stale") && is_stale(lock));
}

std::vector<std::string> row_of(const LockInfo& lock, const ClaimInfo* holder, WallTime now,
                                const std::string& store) {
  const std::string waiters = std::to_string(lock.line.size());
  if (holder == nullptr) {
    return {shown(lock.name), lock.mode, "-", "-", "-", "-", waiters, "-", store};
  }
  std::string lease = duration_text(holder->lease_left);
  if (holder->revoked) lease += " revoked";
  return {shown(lock.name),
          lock.mode,
          shown_program(holder->record),
          shown_place(holder->record),
          tells_since(holder->record) ? duration_text(age_of(holder->record.since, now)) : "-",
          lease,
          waiters,
          holder->fence ? std::to_string(holder->fence.value()) : "-",
          store};
}

std::string human_text(const std::vector<LockInfo>& locks, WallTime now, const std::string& store) {
  std::vector<std::vector<std::string>> rows{
      {"NAME", "MODE", "HOLDER", "HOST:PID", "SINCE", "LEASE-LEFT", "WAITERS", "FENCE", "STORE"}};
  for (const LockInfo& lock : locks) {
    if (lock.holders.empty()) rows.push_back(row_of(lock, nullptr, now, store));
    for (const ClaimInfo& holder : lock.holders) {
      rows.push_back(row_of(lock, &holder, now, store));
    }
  }
  return table_text(rows);
}

int ls(const Arguments& arguments) {
  if (arguments.words().size() > 1) throw UsageError("ls takes one PATTERN; quote * and ?");
  const Terminal terminal(1, arguments);
  const ChosenStore store(arguments);
  const Client client = store.connect();
  auto found = client.inspect(arguments.words().empty() ? "*" : arguments.words()[0]);
  if (!found) throw Refusal(found.error());
  std::vector<LockInfo>& locks = *found;
  std::erase_if(locks, [&](const LockInfo& lock) { return !wanted(lock, arguments); });

  const WallTime now = wall_now();
  if (arguments.has("jsonl")) {
    std::string lines;
    for (const LockInfo& lock : locks) {
      lines += json_text(to_json(lock, store.shown_url(), now)) + "\n";
    }
    print(lines);
  } else if (arguments.has("json")) {
    Json all = Json::array();
    for (const LockInfo& lock : locks) all.push_back(to_json(lock, store.shown_url(), now));
    print(json_text(all) + "\n");
  } else if (!locks.empty()) {
    print(human_text(locks, now, store.shown_url()));
  } else if (terminal.is_terminal()) {
    say("no locks are held or waited for\n");
  }
  return locks.empty() && arguments.has("exit-code") ? exit_code::kNoSuchLock : exit_code::kDone;
}

}  // namespace

Command ls_command() {
  return {.name = "ls",
          .synopsis = "ls [options] [PATTERN]",
          .summary = "list locks that are held or waited for",
          .options = {kStoreOption,
                      {'\0', "held", "", "only those that somebody holds"},
                      {'\0', "waiting", "", "only those that somebody waits for"},
                      {'\0', "stale", "", "only those that nobody keeps alive any more"},
                      {'\0', "json", "", "one JSON array"},
                      {'\0', "jsonl", "", "one JSON object per line"},
                      {'\0', "exit-code", "", "exit 1 if there is none"}},
          .run = ls,
          .notes = "PATTERN may have * and ?; a backslash takes the next character as it is.\n"};
}

}  // namespace holdfast::cli
