#include "cli/run/dry_run.hpp"

#include "cli/json.hpp"
#include "cli/lock_names.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

struct Verdict {
  const char* word = "run";
  std::size_t behind = 0;
  int code = exit_code::kDone;  // what `run` would exit with; 0 if that is the command's business
};

Verdict judge(const RunOptions& options, const RunMode& mode, const LockInfo& lock) {
  const std::size_t behind = mode.behind(lock);
  if (behind == 0) return {};
  if (options.wait == Duration::zero()) return {"busy", behind, options.busy_exit_code};
  return {"wait", behind, exit_code::kDone};
}

std::string verdict_text(const Verdict& verdict) {
  if (verdict.behind == 0) return "would run";
  if (verdict.code != exit_code::kDone || std::string_view(verdict.word) == "busy") {
    return "would exit " + std::to_string(verdict.code);
  }
  return "would wait behind " + std::to_string(verdict.behind);
}

std::string human_text(const LockInfo& lock, const std::string& place, const Verdict& verdict) {
  std::string text = "lock     " + shown(lock.name) + "   " + shown(place) + "\n";
  if (lock.holders.empty()) text += "holder   nobody\n";
  for (const ClaimInfo& holder : lock.holders) {
    text += "holder   " + describe(holder.record) + "   fence " +
            std::to_string(holder.fence.value()) + "   lease " + duration_text(holder.lease_left) +
            " left\n";
  }
  text += "line     " + std::to_string(lock.line.size()) + " waiting\n";
  return text + "verdict  " + verdict_text(verdict) + "\n";
}

struct Seen {
  LockInfo lock;
  std::string place;
};

Seen look_at(const Client& client, const std::string& name, const RunOptions& options) {
  auto found = client.inspect(pattern_of(name));
  if (!found) throw Refusal(found.error());
  const auto place = client.place_of(name);
  if (!place) throw Refusal(place.error());
  if (found->empty()) return {LockInfo{name, "", options.mode.text(), {}, {}}, *place};
  return {std::move(found->front()), *place};
}

// The size of a semaphore that was set counts, not what the command line says.
RunMode mode_on(const Client& client, const std::string& name, const RunOptions& options) {
  RunMode mode = options.mode;
  if (mode.form != RunMode::Form::permits) return mode;
  mode.of = client.semaphore(name, {.permits = mode.of}).size().value_or(mode.of);
  return mode;
}

Json json_of(const Seen& seen, const Verdict& verdict, const RunOptions& options) {
  Json json = to_json(seen.lock, options.store.shown_url(), wall_now());
  json["place"] = seen.place;
  json["verdict"] = verdict.word;
  json["behind"] = verdict.behind;
  json["text"] = verdict_text(verdict);
  return json;
}

}  // namespace

int dry_run(const RunOptions& options) {
  const Client client = options.store.connect();
  if (!options.json) print("store    " + options.store.shown_url() + "\n");
  for (const std::string& name : options.names) {
    const Seen seen = look_at(client, name, options);
    const Verdict verdict = judge(options, mode_on(client, name, options), seen.lock);
    print(options.json ? json_text(json_of(seen, verdict, options)) + "\n"
                       : human_text(seen.lock, seen.place, verdict));
  }
  return exit_code::kDone;
}

}  // namespace holdfast::cli
