#include "cli/help/help_text.hpp"

#include <algorithm>
#include <cctype>

#include "cli/commands.hpp"
#include "cli/help/topics.hpp"

namespace holdfast::cli {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string left_side(const Option& option) {
  std::string side = option.letter != '\0' ? std::string{'-', option.letter, ',', ' '} : "    ";
  side.append("--").append(option.name);
  if (!option.value.empty()) side.append(" ").append(option.value);
  return side;
}

}  // namespace

std::string overview_text() {
  std::string text =
      "holdfast: run commands and look at locks that are shared between processes and machines\n\n"
      "  holdfast run NAME -- CMD [ARGS...]    run CMD while holding the lock NAME\n\n"
      "commands:\n";
  for (const Command& command : commands()) {
    if (is_hidden(command)) continue;
    text += "  " + padded(std::string(command.name), 12) + std::string(command.summary) + "\n";
  }
  text += "\nmore: holdfast help COMMAND, holdfast help EXITCODES|URLS|SAFETY, man holdfast\n";
  return text;
}

std::string help_text(const Command& command) {
  constexpr std::size_t kWidth = 28;
  std::string text = "usage: holdfast " + std::string(command.synopsis) + "\n\n" +
                     std::string(command.summary) + "\n\noptions:\n";
  for (const Option& option : all_options(command)) {
    text += "  " + padded(left_side(option), kWidth) + " " + std::string(option.help) + "\n";
  }
  if (!command.notes.empty()) text += "\n" + std::string(command.notes);
  return text;
}

std::optional<std::string> topic_text(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper == "EXITCODES") return std::string(kExitCodesTopic);
  if (upper == "URLS") return std::string(kUrlsTopic);
  if (upper == "SAFETY") return std::string(kSafetyTopic);
  return std::nullopt;
}

}  // namespace holdfast::cli
