#include "api/store_id.hpp"

#include <algorithm>
#include <string_view>

namespace holdfast::detail {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Host names mean the same in capitals.
std::string without_user(std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  std::string hosts(at == authority.npos ? authority : authority.substr(at + 1));
  std::transform(hosts.begin(), hosts.end(), hosts.begin(), lower);
  return hosts;
}

}  // namespace

std::string store_id(const store::Url& url) {
  std::string id = url.scheme + ':';
  std::string_view rest = url.rest;
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    // scheme:///path is another way to write scheme:/path.
    if (end > 0) id += "//" + without_user(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return id.append(rest);
}

}  // namespace holdfast::detail
