#include "holdfast/store/keys.hpp"

namespace holdfast::store {
namespace {

void append_hex(std::string& text, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 0xF];
}

}  // namespace

std::string to_string(const ClientId& id) {
  std::string text;
  text.reserve(sizeof "0123456789abcdef0123456789abcdef:18446744073709551615");
  append_hex(text, id.high);
  append_hex(text, id.low);
  return text;
}

std::string to_string(const OwnerId& id) {
  std::string text = to_string(id.client);
  text += ':';
  text += std::to_string(id.claim);
  return text;
}

}  // namespace holdfast::store
