#pragma once

#include <map>
#include <string>
#include <string_view>

#include "holdfast/result.hpp"

namespace holdfast::store {

// scheme:rest?key=value&key=value with percent codes undone in keys and values; `rest` is left as it
// stands, since only the store knows what it means.
struct Url {
  std::string scheme;
  std::string rest;
  std::map<std::string, std::string> options;

  // Errc::invalid_argument with the position of what is wrong; the text never repeats the URL, which
  // may hold a password.
  static Result<Url> parse(std::string_view);
};

// "%40" becomes "@". Errc::invalid_argument with the position, for what is no code or a control
// character.
Result<std::string> undo_percent_codes(std::string_view coded);

}  // namespace holdfast::store
