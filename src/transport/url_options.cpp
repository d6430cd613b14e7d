#include "transport/url_options.hpp"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "holdfast/store/lock_name.hpp"

namespace holdfast::transport {
namespace {

using store::printable;

Error wrong(std::string text) { return Error(Errc::invalid_argument, std::move(text)); }

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

}  // namespace

void UrlOptions::add_text(std::string name, std::string& target) {
  add(std::move(name), [&target](const std::string& value) {
    target = value;
    return Result<void>();
  });
}

void UrlOptions::add_switch(const std::string& name, bool& target) {
  add(name, [&target, name](const std::string& value) -> Result<void> {
    if (value != "on" && value != "off") return wrong(name + " is on or off");
    target = value == "on";
    return {};
  });
}

void UrlOptions::add_password(std::string& target) {
  add("password_env", target, from_environment);
  add("password_file", target, from_file);
}

void UrlOptions::add_tls(TlsSettings& target) {
  tls_ = &target;
  add_text("ca", target.ca_file);
  add_text("cert", target.cert_file);
  add_text("key", target.key_file);
  add_text("server_name", target.server_name);
  add_switch("verify", target.verify);
}

Result<void> UrlOptions::read(const store::Url& url) const {
  for (const auto& [name, value] : url.options) {
    const auto setting = settings_.find(name);
    if (setting == settings_.end()) {
      // Perhaps the rest of a password, which must not be repeated.
      if ((name + value).find('@') != std::string::npos) {
        return wrong("what follows the first ? are options; a ? in a password is written %3F");
      }
      std::string known;
      for (const auto& each : settings_) known += (known.empty() ? "" : ", ") + each.first;
      return wrong(url.scheme + ": knows no option \"" + printable(name) + "\", but " + known);
    }
    if (auto done = setting->second(value); !done) return done.error();
  }
  if (tls_ != nullptr && tls_->cert_file.empty() != tls_->key_file.empty()) {
    return wrong("cert and key belong together");
  }
  return {};
}

}  // namespace holdfast::transport
