#include "store/directory/folder_name.hpp"

#include <cstddef>
#include <string_view>

namespace holdfast::store::directory {
namespace {

constexpr std::size_t kLongestPiece = 200;  // some file systems allow 255 bytes, some fewer
constexpr char kGoesOn = '+';
constexpr std::string_view kHex = "0123456789abcdef";

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

void append_code(std::string& text, char c) {
  const auto byte = static_cast<unsigned char>(c);
  text += '%';
  text += kHex[byte >> 4U];
  text += kHex[byte & 15U];
}

}  // namespace

std::string escaped(const std::string& bytes) {
  std::string word;
  for (const char c : bytes) {
    if (plain(c)) {
      word += c;
    } else {
      append_code(word, c);
    }
  }
  return word;
}

std::optional<std::string> unescaped(const std::string& word) {
  std::string bytes;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      bytes += word[i];
      continue;
    }
    if (i + 2 >= word.size()) return std::nullopt;
    const auto high = kHex.find(word[i + 1]), low = kHex.find(word[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4U | low);
    i += 2;
  }
  return bytes;
}

Pieces pieces_of(const LockName& name) {
  Pieces pieces(1);
  const std::string& bytes = name.bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string code;
    const bool dot_at_an_end = bytes[i] == '.' && (pieces.back().empty() || i + 1 == bytes.size());
    if (plain(bytes[i]) && !dot_at_an_end) {
      code = bytes[i];
    } else {
      append_code(code, bytes[i]);
    }
    if (pieces.back().size() + code.size() > kLongestPiece) {
      pieces.back() += kGoesOn;
      pieces.emplace_back();
      if (code == ".") {
        code.clear();
        append_code(code, '.');
      }
    }
    pieces.back() += code;
  }
  return pieces;
}

bool holds_longer_names(const std::string& piece) {
  return !piece.empty() && piece.back() == kGoesOn;
}

std::optional<LockName> name_from(const Pieces& pieces) {
  std::string word;
  for (const std::string& piece : pieces) {
    word += piece;
    if (holds_longer_names(piece)) word.pop_back();
  }
  const auto bytes = unescaped(word);
  if (!bytes) return std::nullopt;
  auto name = LockName::checked(*bytes);
  // Somebody else's folder may be called anything: only what we would have called it is ours.
  if (!name || pieces_of(*name) != pieces) return std::nullopt;
  return *std::move(name);
}

}  // namespace holdfast::store::directory
