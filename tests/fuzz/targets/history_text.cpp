// Histories, which many processes write and the checker reads.
#include <sstream>
#include <string>

#include "checker/checker.hpp"
#include "checker/history_text.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"

namespace holdfast::fuzz {
namespace {

std::string text_of(const check::History& history) {
  std::ostringstream text;
  write(text, history);
  return text.str();
}

const Target kHistoryText("history_text", [](std::string_view bytes) {
  std::istringstream in{std::string(bytes)};
  check::History history;
  const std::string wrong = read(in, history);
  require_safe(wrong);
  const std::string text = text_of(history);  // of the lines before a wrong one, too
  std::istringstream again_in(text);
  check::History again;
  require(read(again_in, again).empty(), "what is written can be read");
  require(text_of(again) == text, "and is written the same again");
});

}  // namespace
}  // namespace holdfast::fuzz
