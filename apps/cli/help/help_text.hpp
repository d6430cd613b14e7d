#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command.hpp"

namespace holdfast::cli {

// All commands, a line each.
std::string overview_text();

// One command with its options.
std::string help_text(const Command&);

// EXITCODES, URLS, SAFETY, in either case; nothing for another word.
std::optional<std::string> topic_text(std::string_view);

}  // namespace holdfast::cli
