// The manual and the help say the same.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/help/help_text.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace holdfast::cli {
namespace {

// The page as it reads: without the backslashes that roff wants before a dash.
std::string page() {
  std::ostringstream text;
  text << std::ifstream(HOLDFAST_MAN_PAGE).rdbuf();
  std::string plain = text.str();
  std::erase(plain, '\\');
  return plain;
}

// The part of the page about one command.
std::string section_of(const std::string& command) {
  const std::string text = page();
  const std::size_t begin = text.find(".SS " + command + " ");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find("\n.S", begin + 1) - begin);
}

TEST(Manual, HasEveryCommandWithEveryOption) {
  for (const Command& command : commands()) {
    if (is_hidden(command)) continue;
    const std::string section = section_of(std::string(command.name));
    EXPECT_FALSE(section.empty()) << command.name;
    for (const Option& option : command.options) {
      EXPECT_THAT(section, testing::HasSubstr("--" + std::string(option.name)))
          << "of " << command.name;
      if (option.letter != '\0') {
        EXPECT_THAT(section, testing::HasSubstr(std::string("-") + option.letter)) << command.name;
      }
    }
  }
}

TEST(Manual, HasEveryExitCode) {
  const std::string topic = *topic_text("EXITCODES");
  const std::string text = page();
  for (const char* code :
       {"64", "65", "69", "70", "71", "73", "75", "76", "77", "78", "80", "126", "127", "128"}) {
    EXPECT_THAT(topic, testing::HasSubstr(code));
    EXPECT_THAT(text, testing::HasSubstr(std::string(".TP\n.B ") + code));
  }
}

TEST(Help, ShowsEveryOption) {
  for (const Command& command : commands()) {
    for (const Option& option : all_options(command)) {
      EXPECT_THAT(help_text(command), testing::HasSubstr("--" + std::string(option.name)));
      if (!is_hidden(command)) {
        EXPECT_FALSE(option.help.empty()) << option.name;
      }
    }
  }
}

TEST(Commands, NoTwoOptionsOfOneCommandAreTheSame) {
  for (const Command& command : commands()) {
    std::vector<std::string> seen;
    for (const Option& option : all_options(command)) {
      seen.emplace_back(option.name);
      if (option.letter != '\0') seen.emplace_back(1, option.letter);
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << command.name;
  }
}

}  // namespace
}  // namespace holdfast::cli
