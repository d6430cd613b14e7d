#include "cli/commands.hpp"
#include "cli/help/help_text.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

int help(const Arguments& arguments) {
  if (arguments.words().empty()) {
    print(overview_text());
    return exit_code::kDone;
  }
  const std::string& word = arguments.words()[0];
  if (const Command* command = find_command(word)) {
    print(help_text(*command));
  } else if (const auto topic = topic_text(word)) {
    print(*topic);
  } else {
    throw UsageError("no help about \"" + shown(word) +
                     "\": it is a command, or EXITCODES, URLS or SAFETY");
  }
  return exit_code::kDone;
}

}  // namespace

Command help_command() {
  return {.name = "help",
          .synopsis = "help [COMMAND|EXITCODES|URLS|SAFETY]",
          .summary = "show help",
          .options = {},
          .run = help};
}

}  // namespace holdfast::cli
