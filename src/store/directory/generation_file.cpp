#include "store/directory/generation_file.hpp"

#include <cstddef>
#include <cstdio>

namespace holdfast::store::directory {
namespace {

constexpr std::size_t kDigits = 16;

}  // namespace

std::string file_of(char letter, std::uint64_t generation) {
  char name[32];
  std::snprintf(name, sizeof name, "%c%016llu", letter,
                static_cast<unsigned long long>(generation));
  return name;
}

std::optional<std::uint64_t> generation_of(const std::string& file) {
  if (file.size() != kDigits + 1) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = 1; i < file.size(); ++i) {
    if (file[i] < '0' || file[i] > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(file[i] - '0');
  }
  return number;
}

}  // namespace holdfast::store::directory
