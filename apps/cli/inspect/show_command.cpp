#include "cli/chosen_store.hpp"
#include "cli/command.hpp"
#include "cli/inspect/lock_state.hpp"
#include "cli/json.hpp"
#include "cli/lock_names.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"
#include "cli/text/table.hpp"

namespace holdfast::cli {
namespace {

std::string holder_text(const ClaimInfo& holder, WallTime now) {
  std::string text = "  holder   " + describe(holder.record);
  if (tells_since(holder.record)) text += "   since " + shown_since(holder.record, now);
  text += holder.fence ? "   fence " + std::to_string(holder.fence.value())
                       : "   no fence: not a client of Holdfast's";
  text += "\n";
  if (!holder.record.reason.empty()) text += "  reason   " + shown(holder.record.reason) + "\n";
  text += "  lease    " + duration_text(holder.lease_left) + " left";
  if (holder.offered) text += ", handed over and not confirmed yet";
  if (holder.revoked) text += ", revoked: free when its holder lets go or the lease ends";
  text += "\n  owner    " + shown(holder.record.owner) + "\n";
  return text;
}

std::string human_text(const LockInfo& lock, const std::string& place, const std::string& store) {
  const WallTime now = wall_now();
  std::string text = shown(lock.name) + "   " + lock.mode + "\n";
  text += "  store    " + store + "   " + place + "\n";
  if (lock.holders.empty()) text += "  holder   nobody\n";
  for (const ClaimInfo& holder : lock.holders) text += holder_text(holder, now);
  text += "  line     " + std::to_string(lock.line.size()) + " waiting\n";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < lock.line.size(); ++i) {
    const HolderRecord& waiter = lock.line[i].record;
    rows.push_back({"    " + std::to_string(i + 1) + ".", describe(waiter),
                    "for " + duration_text(age_of(waiter.since, now)),
                    waiter.reason.empty() ? "" : "\"" + shown(waiter.reason) + "\""});
  }
  return text + table_text(rows);
}

int show(const Arguments& arguments) {
  const std::string name = the_name(arguments, "show");
  const ChosenStore store(arguments);
  const Client client = store.connect();
  const auto found = client.inspect(pattern_of(name));
  if (!found) throw Refusal(found.error());
  const auto place = client.place_of(name);
  if (!place) throw Refusal(place.error());

  const bool none = found->empty();
  if (arguments.has("json")) {
    const LockInfo lock = none ? LockInfo{name, "mutex", "exclusive", {}, {}} : found->front();
    Json json = to_json(lock, store.shown_url(), wall_now());
    json["place"] = *place;
    print(json_text(json) + "\n");
  } else if (none) {
    say("holdfast: " + shown(name) + " is free: nobody holds it or waits for it\n");
  } else {
    print(human_text(found->front(), shown(*place), store.shown_url()));
  }
  return none ? exit_code::kNoSuchLock : exit_code::kDone;
}

}  // namespace

Command show_command() {
  return {.name = "show",
          .synopsis = "show [options] NAME",
          .summary = "show one lock: its holder, lease, fence and line",
          .options = {kStoreOption, {'\0', "json", "", "as JSON"}},
          .run = show,
          .notes = "Exits 1 if the lock is free.\n"};
}

}  // namespace holdfast::cli
