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

Verdict judge(const RunOptions& options, const LockInfo& lock) {
  const std::size_t behind = options.mode.behind(lock);
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

std::string human_text(const RunOptions& options, const LockInfo& lock, const std::string& place,
                       const Verdict& verdict) {
  std::string text = "store    " + options.store.shown_url() + "\n";
  text += "lock     " + shown(options.name) + "   " + shown(place) + "\n";
  if (lock.holders.empty()) text += "holder   nobody\n";
  for (const ClaimInfo& holder : lock.holders) {
    text += "holder   " + describe(holder.record) + "   fence " +
            std::to_string(holder.fence.value()) + "   lease " + duration_text(holder.lease_left) +
            " left\n";
  }
  text += "line     " + std::to_string(lock.line.size()) + " waiting\n";
  return text + "verdict  " + verdict_text(verdict) + "\n";
}

}  // namespace

int dry_run(const RunOptions& options) {
  const Client client = options.store.connect();
  const auto found = client.inspect(pattern_of(options.name));
  if (!found) throw Refusal(found.error());
  const auto place = client.place_of(options.name);
  if (!place) throw Refusal(place.error());

  const LockInfo lock =
      found->empty() ? LockInfo{options.name, "", options.mode.text(), {}, {}} : found->front();
  const Verdict verdict = judge(options, lock);
  if (options.json) {
    Json json = to_json(lock, options.store.shown_url(), wall_now());
    json["place"] = *place;
    json["verdict"] = verdict.word;
    json["behind"] = verdict.behind;
    json["text"] = verdict_text(verdict);
    print(json_text(json) + "\n");
  } else {
    print(human_text(options, lock, *place, verdict));
  }
  return exit_code::kDone;
}

}  // namespace holdfast::cli
