// Texts of words and numbers.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace holdfast::rules {

// The whole text, or none.
template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Cuts off the text up to a space, and the space.
inline std::string_view next_word(std::string_view& text, char space = ' ') {
  const std::string_view word = text.substr(0, text.find(space));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

}  // namespace holdfast::rules
