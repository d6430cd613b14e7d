#include "rules/glob.hpp"

#include <cstddef>

namespace holdfast::rules {

namespace {

// How much of the pattern stands for this byte; 0 if it does not match.
std::size_t one_byte_match(std::string_view pattern, char byte) {
  if (pattern.empty()) return 0;
  if (pattern[0] == '\\' && pattern.size() > 1) return pattern[1] == byte ? 2 : 0;
  return pattern[0] == '?' || pattern[0] == byte ? 1 : 0;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  // The last star seen, and how much of the name it stands for so far. Only the last one needs to
  // be tried again: what an earlier star took can be shifted to it.
  std::size_t star = std::string_view::npos;
  std::size_t star_end = 0;
  while (n < name.size()) {
    // The star first: a name may contain stars itself.
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = n;
    } else if (const std::size_t length = one_byte_match(pattern.substr(p), name[n]); length > 0) {
      p += length;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_end;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace holdfast::rules
