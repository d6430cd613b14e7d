#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::store::directory {

// What a file about a generation is called: a letter and 16 digits. lock_folder.hpp says what the
// letters mean.
std::string file_of(char letter, std::uint64_t generation);

// The number of a file that is called so, whatever its letter.
std::optional<std::uint64_t> generation_of(const std::string& file);

}  // namespace holdfast::store::directory
