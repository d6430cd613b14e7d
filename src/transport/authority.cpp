#include "transport/authority.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "holdfast/store/url.hpp"

namespace holdfast::transport {
namespace {

Error wrong(std::string_view what) {
  return Error(Errc::invalid_argument, "the store URL: " + std::string(what));
}

Result<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return wrong("a port is a number from 1 to 65535");
  }
  return port;
}

// Letters, digits, '.', '-', '_' and for addresses ':' and '%' (a zone).
bool fits_host(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(".-_:%").find(c) != std::string_view::npos;
}

Result<Endpoint> endpoint_of(std::string_view text, std::uint16_t default_port) {
  constexpr std::size_t kLongestHost = 253;
  Endpoint endpoint{.host = {}, .port = default_port};
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return wrong("'[' without ']'");
    endpoint.host = text.substr(1, end - 1);
    const std::string_view after = text.substr(end + 1);
    if (!after.empty() && after[0] != ':') return wrong("only a port may follow ']'");
    has_port = !after.empty();
    port = has_port ? after.substr(1) : after;
  } else {
    const std::size_t colon = text.find(':');
    endpoint.host = text.substr(0, colon);
    has_port = colon != text.npos;
    if (has_port) port = text.substr(colon + 1);
    if (port.find(':') != port.npos) return wrong("an IPv6 address stands in brackets: [::1]:6379");
  }
  if (endpoint.host.empty()) return wrong("a host without a name");
  if (endpoint.host.size() > kLongestHost ||
      !std::all_of(endpoint.host.begin(), endpoint.host.end(), fits_host)) {
    return wrong("a host name has at most 253 letters, digits, '.', '-' and '_'");
  }
  if (has_port) {
    const auto number = port_of(port);
    if (!number) return number.error();
    endpoint.port = *number;
  }
  return endpoint;
}

Result<void> read_user(std::string_view text, Authority& into) {
  const std::size_t colon = text.find(':');
  auto user = store::undo_percent_codes(text.substr(0, colon));
  if (!user)
    return wrong("the user's name has a '%' without two hex digits, or a control character");
  into.user = std::move(*user);
  if (colon == text.npos) return {};
  auto password = store::undo_percent_codes(text.substr(colon + 1));
  if (!password)
    return wrong("the password has a '%' without two hex digits, or a control character");
  into.password = std::move(*password);
  return {};
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  const bool bare = endpoint.host.find(':') == std::string::npos;
  return (bare ? endpoint.host : "[" + endpoint.host + "]") + ":" + std::to_string(endpoint.port);
}

Result<Authority> parse_authority(std::string_view rest, std::uint16_t default_port) {
  Authority authority;
  if (!rest.starts_with("//")) return wrong("\"//\" is missing after the scheme");
  rest.remove_prefix(2);
  const std::size_t slash = rest.find('/');
  if (slash != rest.npos) authority.path = rest.substr(slash + 1);
  std::string_view hosts = rest.substr(0, slash);
  if (const std::size_t at = hosts.rfind('@'); at != hosts.npos) {
    if (auto read = read_user(hosts.substr(0, at), authority); !read) return read.error();
    hosts.remove_prefix(at + 1);
  }
  while (!hosts.empty()) {
    const std::size_t comma = std::min(hosts.find(','), hosts.size());
    auto endpoint = endpoint_of(hosts.substr(0, comma), default_port);
    if (!endpoint) return endpoint.error();
    authority.endpoints.push_back(std::move(*endpoint));
    if (comma + 1 == hosts.size()) return wrong("a host without a name");
    hosts.remove_prefix(std::min(comma + 1, hosts.size()));
  }
  return authority;
}

}  // namespace holdfast::transport
