// Lock names: on a terminal, as a folder, as a pattern.
#include <algorithm>
#include <string>

#include "cli/lock_names.hpp"
#include "cli/text/shown.hpp"
#include "cli/text/utf8.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"
#include "holdfast/store/lock_name.hpp"
#include "rules/glob.hpp"
#include "store/directory/folder_name.hpp"

namespace holdfast::fuzz {
namespace {

using store::LockName;
using namespace store::directory;

void check_pieces(const LockName& name) {
  const Pieces pieces = pieces_of(name);
  for (const std::string& piece : pieces) {
    require(!piece.empty() && piece.size() <= 201, "a folder's name has a length that it may have");
    require(piece.front() != '.' && piece.back() != '.', "no folder is hidden or leads elsewhere");
    require(std::all_of(piece.begin(), piece.end(),
                        [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                                 std::string_view("_-.%+").find(c) != std::string_view::npos;
                        }),
            "a folder's name is plain");
  }
  require(name_from(pieces) == name, "a folder's name stands for its lock");
}

const Target kLockName("lock_name", [](std::string_view bytes) {
  const auto name = LockName::checked(bytes);
  require(name.has_value() == (!bytes.empty() && bytes.size() <= LockName::kMaxBytes),
          "names have 1 to 512 bytes");
  const std::string shown = store::printable(bytes);
  require_safe(shown);
  require(unescaped(shown) == bytes, "what is shown stands for the name");
  require(cli::shown(bytes) == shown, "the program shows names as the library does");
  require(cli::width_of(shown) <= shown.size(), "no character has no bytes");
  if (!name) return require_safe(name.error().text());
  require(name->bytes() == bytes, "a name is its bytes");
  check_pieces(*name);
});

// Two names, or a pattern and a name.
const Target kPattern("pattern", [](std::string_view bytes) {
  const std::string_view first = bytes.substr(0, bytes.find('\n'));
  const std::string_view second = bytes.substr(std::min(first.size() + 1, bytes.size()));
  const std::string pattern = cli::pattern_of(first);
  require(rules::glob_matches(pattern, first), "the pattern of a name matches it");
  require(rules::glob_matches(pattern, second) == (first == second), "and no other");
  rules::glob_matches(first, second);
  require(rules::glob_matches("*", second), "a star matches all");
  const std::string some = "*" + cli::pattern_of(first) + "*";
  require(rules::glob_matches(some, second) == (second.find(first) != std::string_view::npos),
          "between stars it is searched");
});

// Somebody else's folders, one per line.
const Target kFolderName("folder_name", [](std::string_view bytes) {
  Pieces pieces(1);
  for (const char c : bytes) {
    if (c == '\n') {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  const auto name = name_from(pieces);
  if (name) require(pieces_of(*name) == pieces, "only what we would have called it is ours");
  const auto plain = store::directory::unescaped(std::string(bytes));
  if (plain) {
    const auto again = store::directory::unescaped(escaped(*plain));
    require(again == plain, "an escaped word reads back as the same");
  }
});

}  // namespace
}  // namespace holdfast::fuzz
