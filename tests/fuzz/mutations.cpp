#include "fuzz/mutations.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace holdfast::fuzz {
namespace {

constexpr std::array<std::string_view, 16> kOdd{"9223372036854775807",
                                                "9223372036854775808",
                                                "-9223372036854775808",
                                                "18446744073709551615",
                                                "4294967296",
                                                "0",
                                                "-1",
                                                "%00",
                                                "%",
                                                "\n",
                                                "\x1B[2J",
                                                "\xC2\x9B",
                                                "\xE2\x80\xAE",
                                                "\xFF",
                                                "=",
                                                "--"};

}  // namespace

std::string Mutations::next() {
  std::string input = corpus_.empty() ? std::string() : corpus_[below(corpus_.size())];
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(input);
  if (input.size() > kLongest) input.resize(kLongest);
  return input;
}

void Mutations::change(std::string& input) {
  const std::size_t at = below(input.size() + 1);
  const std::size_t length = std::min(1 + below(16), input.size() - at);
  switch (below(7)) {
    case 0:
      if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
      break;
    case 1:
      if (at < input.size()) input[at] = static_cast<char>(below(256));
      break;
    case 2:
      input.insert(at, 1, static_cast<char>(below(256)));
      break;
    case 3:
      input.erase(at, length);
      break;
    case 4:
      input.insert(at, input.substr(at, length));
      break;
    case 5:
      input.replace(at, length, kOdd[below(kOdd.size())]);
      break;
    default:
      if (!corpus_.empty()) {
        const std::string& other = corpus_[below(corpus_.size())];
        input.replace(at, std::string::npos, other, below(other.size() + 1));
      }
  }
}

}  // namespace holdfast::fuzz
