// What the folder of a lock is called.
//
// Small letters, digits, _ - and . stand for themselves, every other byte is % and two hex digits:
// also capitals, since some file systems do not tell them from small letters, and a . that begins a
// name or ends it. A name that becomes longer than a file's may be is cut into pieces, each a folder
// inside the one before; all pieces but the last end in +, which is in no name.
//
//   nightly.invoices   nightly.invoices
//   Team A/deploy      %54eam%20%41%2fdeploy
//   xxx… (512 times)   xxx…+/xxx…+/xxx…
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "holdfast/store/lock_name.hpp"

namespace holdfast::store::directory {

using Pieces = std::vector<std::string>;

Pieces pieces_of(const LockName&);
// Nothing if no lock's folder is called so.
std::optional<LockName> name_from(const Pieces&);
// Whether longer names lie in this folder; else it may be a lock.
bool holds_longer_names(const std::string& piece);

// Bytes of any value as a word without spaces or line ends; the same code.
std::string escaped(const std::string& bytes);
std::optional<std::string> unescaped(const std::string& word);

}  // namespace holdfast::store::directory
