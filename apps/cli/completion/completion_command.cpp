#include "cli/command.hpp"
#include "cli/completion/bash_script.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

int completion(const Arguments& arguments) {
  if (arguments.words().size() != 1) throw UsageError("for which shell? There is: bash");
  const std::string& shell = arguments.words()[0];
  if (shell != "bash")
    throw UsageError("no completion for \"" + shown(shell) + "\" yet; only bash");
  print(kBashScript);
  return exit_code::kDone;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .synopsis = "completion bash",
          .summary = "print a completion script for a shell",
          .options = {},
          .run = completion,
          .notes = "For example: source <(holdfast completion bash)\n"};
}

}  // namespace holdfast::cli
