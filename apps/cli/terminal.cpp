#include "cli/terminal.hpp"

#include <cstdlib>
#include <cstring>

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/refusal.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool terminal_is_dumb() {
  const char* kind = std::getenv("TERM");
  return kind == nullptr || std::strcmp(kind, "dumb") == 0;
}

}  // namespace

Terminal::Terminal(int descriptor, const Arguments& arguments)
    : descriptor_(descriptor),
      is_terminal_(isatty(descriptor) == 1),
      dumb_(terminal_is_dumb()),
      color_(is_terminal_ && !dumb_ && !is_set("NO_COLOR")),
      unicode_(std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0) {
  const std::string when = arguments.value("color").value_or("auto");
  if (when == "always" || when == "never") {
    color_ = when == "always";
  } else if (when != "auto") {
    throw UsageError("--color is auto, always or never, not \"" + shown(when) + "\"");
  }
}

std::size_t Terminal::columns() const {
  winsize size{};
  if (ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string Terminal::paint(Color color, std::string_view text) const {
  std::string_view code;
  switch (color) {
    case Color::plain:
      break;
    case Color::red:
      code = "31";
      break;
    case Color::green:
      code = "32";
      break;
    case Color::yellow:
      code = "33";
      break;
    case Color::dim:
      code = "2";
      break;
    case Color::bold:
      code = "1";
      break;
  }
  if (!color_ || code.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace holdfast::cli
