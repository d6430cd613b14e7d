#include "holdfast/store/keys.hpp"

namespace holdfast::store {
namespace {

void append_hex(std::string& text, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 0xF];
}

}  // namespace

std::string to_string(const ClientId& id) {
  std::string text;
  append_hex(text, id.high);
  append_hex(text, id.low);
  return text;
}

std::string to_string(const OwnerId& id) {
  return to_string(id.client) + ':' + std::to_string(id.claim);
}

}  // namespace holdfast::store
