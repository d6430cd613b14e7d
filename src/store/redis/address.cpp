#include "store/redis/address.hpp"

#include <charconv>
#include <utility>

#include "transport/url_options.hpp"

namespace holdfast::store::redis {
namespace {

constexpr std::uint16_t kPort = 6379;

Error wrong(std::string text) { return Error(Errc::invalid_argument, std::move(text)); }

Result<unsigned> database_of(const std::string& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > 1'000'000) {
    return wrong(
        "the database of a Redis server is a number, 0 to 15 unless it is set up for more");
  }
  return number;
}

Result<void> read_options(const Url& url, Address& address) {
  transport::UrlOptions options;
  options.add("database", address.database, database_of);
  options.add_switch("interop", address.interop);
  options.add_password(address.password);
  if (address.server.tls) options.add_tls(address.server.tls_settings);
  return options.read(url);
}

}  // namespace

Result<Address> parse_address(const Url& url) {
  Address address;
  address.server.tls = url.scheme == "rediss";
  auto authority = transport::parse_authority(url.rest, kPort);
  if (!authority) return authority.error();
  address.user = std::move(authority->user);
  address.password = std::move(authority->password);
  if (url.scheme == "redis+unix") {
    if (!authority->endpoints.empty() || authority->path.empty()) {
      return wrong(
          "redis+unix: is followed by the whole path of a socket: redis+unix:///run/redis.sock");
    }
    auto path = undo_percent_codes(authority->path);
    if (!path) return path.error();
    address.server.socket_path = "/" + *path;
  } else {
    if (authority->endpoints.size() > 1) {
      return wrong(url.scheme + ": is one server; several are not supported yet");
    }
    address.server.endpoint = authority->endpoints.empty() ? transport::Endpoint{"127.0.0.1", kPort}
                                                           : authority->endpoints[0];
    if (!authority->path.empty()) {
      const auto database = database_of(authority->path);
      if (!database) return database.error();
      address.database = *database;
    }
  }
  if (auto done = read_options(url, address); !done) return done.error();
  return address;
}

}  // namespace holdfast::store::redis
