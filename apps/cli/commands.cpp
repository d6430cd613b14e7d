#include "cli/commands.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "cli/help/help_text.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/terminal.hpp"
#include "cli/text/nearest.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {

#define HOLDFAST_COMMAND(name) Command name##_command();
#include "cli/commands.list"
#undef HOLDFAST_COMMAND

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
#define HOLDFAST_COMMAND(name) name##_command(),
#include "cli/commands.list"
#undef HOLDFAST_COMMAND
  };
  return all;
}

const Command* find_command(std::string_view name) {
  const auto& all = commands();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_hidden(const Command& command) { return command.name.starts_with("__"); }

std::vector<Option> all_options(const Command& command) {
  std::vector<Option> options = command.options;
  options.push_back(kColorOption);
  options.push_back({'h', "help", "", "show this help"});
  return options;
}

namespace {

// Commands that are planned; their names are not free for anything else.
bool comes_later(std::string_view name) {
  constexpr std::string_view kLater[] = {"elect", "top", "watch", "kick", "history", "console"};
  return std::find(std::begin(kLater), std::end(kLater), name) != std::end(kLater);
}

UsageError no_such_command(const std::string& word) {
  if (comes_later(word)) return UsageError("\"" + word + "\" is not there yet in this version");
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (!is_hidden(command)) names.emplace_back(command.name);
  }
  const auto near = nearest(word, names);
  return UsageError("unknown command \"" + shown(word) + "\"" +
                    (near ? "; did you mean \"" + *near + "\"?" : "; see: holdfast help"));
}

int run(std::span<const std::string> words) {
  if (words.empty()) {
    say(overview_text());
    return exit_code::kUsage;
  }
  std::string first = words[0];
  if (first == "--help" || first == "-h") first = "help";
  if (first == "--version" || first == "-V") first = "version";
  const Command* command = find_command(first);
  if (command == nullptr) {
    if (first.starts_with("-")) {
      throw UsageError("unknown option " + shown(first) + "; options go behind a command");
    }
    throw no_such_command(first);
  }

  const std::vector<Option> options = all_options(*command);
  const Arguments arguments = Arguments::parse(options, words.subspan(1), command->after_dashes);
  if (arguments.has("help")) {
    print(help_text(*command));
    return exit_code::kDone;
  }
  return command->run(arguments);
}

}  // namespace

int dispatch(std::span<const std::string> words) {
  try {
    return run(words);
  } catch (const Refusal& refusal) {
    say("holdfast: " + std::string(refusal.what()) + "\n");
    return refusal.code();
  } catch (const std::bad_alloc&) {
    say("holdfast: out of memory\n");
    return exit_code::kOsError;
  } catch (const std::exception& error) {
    say("holdfast: internal error: " + shown(error.what()) + "\n");
    return exit_code::kInternal;
  }
}

}  // namespace holdfast::cli
