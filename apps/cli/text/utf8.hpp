#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::cli {

struct Character {
  std::size_t bytes = 0;  // 0: the text does not begin with a UTF-8 character
  char32_t code = 0;
};

// The first character of a text that is not empty.
Character first_character(std::string_view);

bool is_utf8(std::string_view);

// Columns on a terminal, about: one per character.
std::size_t width_of(std::string_view);

}  // namespace holdfast::cli
