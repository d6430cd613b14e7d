#include "store/zookeeper/address.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "transport/url_options.hpp"

namespace holdfast::store::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kPort = 2181;
constexpr std::uint16_t kTlsPort = 2281;
constexpr Duration kLongestSession = 1h;

Error wrong(std::string text) { return Error(Errc::invalid_argument, std::move(text)); }

Result<Duration> session_of(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, text.data() + text.size());
  Duration length{};
  const bool fits = number <= kLongestSession / 1ms;  // in any unit
  if (error == std::errc() && fits) {
    if (unit == "ms") length = std::chrono::milliseconds(number);
    if (unit == "s") length = std::chrono::seconds(number);
    if (unit == "m") length = std::chrono::minutes(number);
  }
  if (length < kShortestSession || length > kLongestSession) {
    return wrong("session is a time from 100ms to 60m, as 20s");
  }
  return length;
}

Result<bool> native_of(const std::string& text) {
  if (text == "native") return true;
  if (text == "shifted") return false;
  return wrong("fence is native, or shifted, which leaves room for hand-offs");
}

Result<bool> path_of(const std::string& text) {
  if (text == "path") return true;
  if (text == "flat") return false;
  return wrong("names is path or flat");
}

// A path of nodes as ZooKeeper takes it. It takes more than this, but not everything, and what is not ASCII
// looks alike too often.
Result<std::string> base_of(std::string_view path) {
  const auto decoded = undo_percent_codes(path);
  if (!decoded) return decoded.error();
  std::string_view rest = *decoded;
  if (rest.size() > 1 && rest.ends_with('/')) rest.remove_suffix(1);
  std::string base;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, end);
    const bool plain =
        std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (name.empty() || name == "." || name == ".." || !plain || end + 1 == rest.size()) {
      return wrong("the base is a path of nodes, as /apps/locks, whose names are plain ASCII");
    }
    if (base.empty() && name == "zookeeper") {
      return wrong("/zookeeper is for ZooKeeper itself; choose another base");
    }
    (base += '/') += name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return base;
}

Result<void> read_options(const Url& url, Address& address) {
  transport::UrlOptions options;
  options.add("session", address.session, session_of);
  options.add("fence", address.native_fences, native_of);
  options.add("names", address.names_are_paths, path_of);
  options.add_password(address.password);
  if (address.tls) options.add_tls(address.tls_settings);
  return options.read(url);
}

}  // namespace

Result<Address> parse_address(const Url& url) {
  Address address;
  address.tls = url.scheme == "zks";
  const std::uint16_t port = address.tls ? kTlsPort : kPort;
  auto authority = transport::parse_authority(url.rest, port);
  if (!authority) return authority.error();
  address.user = std::move(authority->user);
  address.password = std::move(authority->password);
  address.endpoints = std::move(authority->endpoints);
  if (address.endpoints.empty()) address.endpoints.push_back({"127.0.0.1", port});
  auto base = base_of(authority->path);
  if (!base) return base.error();
  address.base = std::move(*base);
  if (auto done = read_options(url, address); !done) return done.error();
  if (address.user.empty() && !address.password.empty()) {
    return wrong("to ZooKeeper a password belongs to a user: " + url.scheme +
                 "://user:password@host");
  }
  if (address.user.find(':') != std::string::npos) {
    return wrong("the name of a user of ZooKeeper has no ':'");
  }
  return address;
}

std::string to_string(const Address& address) {
  std::string text;
  for (const transport::Endpoint& each : address.endpoints) {
    if (!text.empty()) text += ',';
    text += transport::to_string(each);
  }
  return text;
}

}  // namespace holdfast::store::zookeeper
