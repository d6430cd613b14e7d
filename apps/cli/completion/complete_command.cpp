#include <csignal>
#include <cstdlib>

#include <sys/time.h>
#include <unistd.h>

#include "cli/chosen_store.hpp"
#include "cli/commands.hpp"
#include "cli/lock_names.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr suseconds_t kBudgetMicroseconds = 300'000;

// Somebody has pressed Tab and waits. Whatever hangs, we are gone in time, without a word.
void leave_in_time() {
  struct sigaction action {};
  action.sa_handler = [](int) { _exit(0); };
  sigaction(SIGALRM, &action, nullptr);
  itimerval timer{};
  timer.it_value.tv_usec = kBudgetMicroseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// A shell would take other names apart; whoever has such names can quote them.
bool is_plain(const std::string& name) {
  return name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "_./@%+-") == std::string::npos;
}

bool takes_live_names(const Command& command) {
  return command.synopsis.find("NAME") != std::string_view::npos || command.name == "ls";
}

// Options that take a value are found by the same rules as in the parser; here a guess is enough.
std::optional<std::string> value_before(std::span<const std::string> words, std::string_view name) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == name) return words[i + 1];
  }
  return std::nullopt;
}

void print_live_names(std::span<const std::string> words, const std::string& prefix) {
  leave_in_time();
  std::optional<std::string> url = value_before(words, "-S");
  if (!url) url = value_before(words, "--store");
  const ChosenStore store = url ? ChosenStore(*url) : ChosenStore(Arguments());
  const auto locks = store.connect({.answer_within = 250ms}).inspect(pattern_of(prefix) + "*");
  if (!locks) return;
  for (const LockInfo& lock : *locks) {
    if (is_plain(lock.name)) print(lock.name + "\n");
  }
}

int complete(const Arguments& arguments) {
  const auto& words = arguments.words();
  if (words.size() <= 1) {
    for (const Command& command : commands()) {
      if (!is_hidden(command)) print(std::string(command.name) + "\n");
    }
    return exit_code::kDone;
  }
  const Command* command = find_command(words[0]);
  if (command == nullptr) return exit_code::kDone;
  const std::string& current = words.back();
  if (current.starts_with("-")) {
    for (const Option& option : all_options(*command)) {
      print("--" + std::string(option.name) + "\n");
    }
  } else if (command->name == "completion") {
    print("bash\n");
  } else if (command->name == "help") {
    for (const Command& one : commands()) {
      if (!is_hidden(one)) print(std::string(one.name) + "\n");
    }
    print("EXITCODES\nURLS\nSAFETY\n");
  } else if (takes_live_names(*command)) {
    try {
      print_live_names(words, current);
    } catch (const Refusal&) {  // no store, no names: nothing to tell somebody who pressed Tab
      return exit_code::kDone;
    }
  }
  return exit_code::kDone;
}

}  // namespace

// For the completion scripts: __complete -- WORDS…, the last of which is being typed.
Command complete_command() {
  return {.name = "__complete",
          .synopsis = "__complete -- [WORDS...]",
          .summary = "for completion scripts",
          .options = {},
          .run = complete};
}

}  // namespace holdfast::cli
