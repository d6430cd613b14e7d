#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/option.hpp"

namespace holdfast::cli {

inline constexpr Option kColorOption{'\0', "color", "WHEN",
                                     "auto, always or never; NO_COLOR and TERM=dumb are honoured"};

enum class Color { plain, red, green, yellow, dim, bold };

// What a stream of ours can show.
class Terminal {
 public:
  // Throws UsageError for a --color it does not know.
  Terminal(int descriptor, const Arguments&);

  bool is_terminal() const { return is_terminal_; }
  bool can_redraw() const { return is_terminal_ && !dumb_; }
  bool unicode() const { return unicode_; }
  std::size_t columns() const;  // as it is now: windows change

  std::string paint(Color, std::string_view) const;

 private:
  int descriptor_;
  bool is_terminal_;
  bool dumb_;
  bool color_;
  bool unicode_;
};

}  // namespace holdfast::cli
