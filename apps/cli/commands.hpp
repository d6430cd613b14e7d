#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace holdfast::cli {

// Every command, in the order of the help.
const std::vector<Command>& commands();

// Null if there is none of that name.
const Command* find_command(std::string_view name);

// Names like __guard are for the program itself.
bool is_hidden(const Command&);

// Its options and those that all commands have.
std::vector<Option> all_options(const Command&);

// Runs the command that the words (without the program's name) ask for; returns the exit code.
int dispatch(std::span<const std::string> words);

}  // namespace holdfast::cli
