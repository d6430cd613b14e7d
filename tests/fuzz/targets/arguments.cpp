// The command line: every command's options, what `run` makes of them, and its guardian's plan.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/guard/guard_plan.hpp"
#include "cli/refusal.hpp"
#include "cli/run/run_options.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"

namespace holdfast::fuzz {
namespace {

using Words = std::vector<std::string>;

// One per line.
Words words_in(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// A refusal can be shown, and has an exit code of its own.
template <class Parse>
void parse(const Parse& parse) {
  try {
    parse();
  } catch (const cli::Refusal& refusal) {
    require_safe_lines(refusal.what());
    require(refusal.code() >= 64 && refusal.code() <= 78, "a refusal has an exit code for it");
  }
}

// They are the same at each input.
const std::vector<cli::Option>& options_of(const cli::Command& command) {
  static std::map<std::string, std::vector<cli::Option>> known;
  const auto [found, is_new] = known.try_emplace(std::string(command.name));
  if (is_new) found->second = cli::all_options(command);
  return found->second;
}

void check_command_part(const Words& words, const cli::Arguments& arguments) {
  if (!arguments.has_command()) return;
  const Words& command = arguments.command();
  require(command.size() < words.size() &&
              std::equal(command.rbegin(), command.rend(), words.rbegin()) &&
              words[words.size() - command.size() - 1] == "--",
          "what follows -- is the command, word for word");
}

const Target kArguments("arguments", [](std::string_view bytes) {
  const Words words = words_in(bytes);
  if (words.empty()) return;
  const cli::Command* chosen = cli::find_command(words[0]);
  for (const cli::Command& command : cli::commands()) {
    if (chosen != nullptr && chosen->name != command.name) continue;
    const auto& options = options_of(command);
    const Words rest(words.begin() + 1, words.end());
    parse([&] {
      const auto arguments = cli::Arguments::parse(options, rest, command.after_dashes);
      check_command_part(rest, arguments);
      for (const cli::Option& option : options) {
        require(arguments.has(option.name) == arguments.value(option.name).has_value(),
                "an option that is there has a value");
      }
      if (command.name != "run") return;
      const auto run = cli::RunOptions::from(arguments);
      require(std::is_sorted(run.names.begin(), run.names.end()) && !run.names.empty(),
              "names are sorted");
      require(!run.command.empty(), "there is something to run");
      require(run.lease >= kMinLease && run.lease <= kMaxLease, "a lease has a length it may have");
      require(run.grace >= Duration::zero() && run.grace <= run.lease / 2, "and so has the grace");
      require(run.wait >= Duration::zero(), "nobody waits for less than no time");
      require_safe(run.store.shown_url());
    });
  }
});

const Target kGuardPlan("guard_plan", [](std::string_view bytes) {
  Input input(bytes);
  cli::GuardPlan plan;
  plan.socket = static_cast<int>(input.number());
  plan.signal_mask = input.unsigned_number();
  plan.on_lost = static_cast<int>(input.number());
  plan.grace = Duration(input.number());
  plan.until = TimePoint(Duration(input.number()));
  plan.command = words_in(input.rest());
  if (plan.command.empty()) return;
  const Words words = plan.words();
  const Words rest(words.begin() + 1, words.end());
  const auto again = cli::GuardPlan::from(
      cli::Arguments::parse(cli::GuardPlan::options(), rest, cli::AfterDashes::command));
  require(again.words() == words && again.command == plan.command && again.grace == plan.grace &&
              again.until == plan.until,
          "a plan reads back as the same");
});

}  // namespace
}  // namespace holdfast::fuzz
