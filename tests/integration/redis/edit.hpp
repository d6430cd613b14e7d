#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {

// A piece of a script's text and what stands there instead: a mistake, or a clock that a test turns.
struct Edit {
  std::string what;
  std::string by;
};

// Those that fit. An edit that fits twice is ambiguous.
inline std::string edited(std::string text, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    const std::size_t at = text.find(edit.what);
    if (at == std::string::npos) continue;
    if (text.find(edit.what, at + 1) != std::string::npos) {
      throw std::logic_error("an edit fits twice: " + edit.what);
    }
    text.replace(at, edit.what.size(), edit.by);
  }
  return text;
}

}  // namespace holdfast::test
