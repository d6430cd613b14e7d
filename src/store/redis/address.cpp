#include "store/redis/address.hpp"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <utility>

#include "holdfast/store/lock_name.hpp"

namespace holdfast::store::redis {
namespace {

constexpr std::uint16_t kPort = 6379;

Error wrong(std::string text) { return Error(Errc::invalid_argument, std::move(text)); }

Result<unsigned> database_of(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > 1'000'000) {
    return wrong(
        "the database of a Redis server is a number, 0 to 15 unless it is set up for more");
  }
  return number;
}

Result<bool> on_or_off(const std::string& name, const std::string& text) {
  if (text == "on") return true;
  if (text == "off") return false;
  return wrong(name + " is on or off");
}

Result<std::string> from_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) {
    return wrong("password_env names the environment variable " + printable(name) +
                 ", which is not set");
  }
  if (*value == '\0') {
    return wrong("password_env names the environment variable " + printable(name) +
                 ", which is empty");
  }
  return std::string(value);
}

Result<std::string> from_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) && !file.eof()) {
    return Error(Errc::permission, "the password file " + printable(path) + " cannot be read");
  }
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) {
    return wrong("the first line of the password file " + printable(path) + " is empty");
  }
  return line;
}

// What an option does to the address.
using Setting = std::function<Result<void>(const std::string& value)>;

template <class T>
Result<void> set(T& target, Result<T> value) {
  if (!value) return value.error();
  target = std::move(*value);
  return {};
}

std::map<std::string, Setting> settings_of(Address& address) {
  std::map<std::string, Setting> settings;
  const auto text = [&](const char* name, std::string& target) {
    settings[name] = [&target](const std::string& value) {
      target = value;
      return Result<void>();
    };
  };
  settings["database"] = [&](const std::string& it) {
    return set(address.database, database_of(it));
  };
  settings["password_env"] = [&](const std::string& it) {
    return set(address.password, from_environment(it));
  };
  settings["password_file"] = [&](const std::string& it) {
    return set(address.password, from_file(it));
  };
  settings["interop"] = [&](const std::string& it) {
    return set(address.interop, on_or_off("interop", it));
  };
  if (!address.server.tls) return settings;
  text("ca", address.server.tls_settings.ca_file);
  text("cert", address.server.tls_settings.cert_file);
  text("key", address.server.tls_settings.key_file);
  text("server_name", address.server.tls_settings.server_name);
  settings["verify"] = [&](const std::string& it) {
    return set(address.server.tls_settings.verify, on_or_off("verify", it));
  };
  return settings;
}

Result<void> read_options(const Url& url, Address& address) {
  const auto settings = settings_of(address);
  for (const auto& [name, value] : url.options) {
    const auto setting = settings.find(name);
    if (setting == settings.end()) {
      // Perhaps the rest of a password, which must not be repeated.
      if ((name + value).find('@') != std::string::npos) {
        return wrong("what follows the first ? are options; a ? in a password is written %3F");
      }
      std::string known;
      for (const auto& each : settings) known += (known.empty() ? "" : ", ") + each.first;
      return wrong(url.scheme + ": knows no option \"" + printable(name) + "\", but " + known);
    }
    if (auto done = setting->second(value); !done) return done.error();
  }
  if (address.server.tls_settings.cert_file.empty() !=
      address.server.tls_settings.key_file.empty()) {
    return wrong("cert and key belong together");
  }
  return {};
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
      if (auto done = set(address.database, database_of(authority->path)); !done)
        return done.error();
    }
  }
  if (auto done = read_options(url, address); !done) return done.error();
  return address;
}

}  // namespace holdfast::store::redis
