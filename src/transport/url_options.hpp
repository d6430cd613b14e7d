#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "holdfast/result.hpp"
#include "holdfast/store/url.hpp"
#include "transport/tls.hpp"

namespace holdfast::transport {

// The options that the URL of a server may have, and where each goes. The targets outlive it.
//
// On error     Errc::invalid_argument, or permission (a password file). The text never holds the password,
//              nor what may be a part of one.
class UrlOptions {
 public:
  using Setting = std::function<Result<void>(const std::string& value)>;

  void add(std::string name, Setting setting) { settings_[std::move(name)] = std::move(setting); }
  template <class T>
  void add(std::string name, T& target, Result<T> (*parse)(const std::string& value)) {
    add(std::move(name), [&target, parse](const std::string& value) -> Result<void> {
      auto it = parse(value);
      if (!it) return it.error();
      target = std::move(*it);
      return {};
    });
  }
  void add_text(std::string name, std::string& target);
  void add_switch(const std::string& name, bool& target);  // on or off
  void add_password(std::string& target);                  // password_env, password_file
  void add_tls(TlsSettings& target);                       // ca, cert, key, server_name, verify

  Result<void> read(const store::Url&) const;

 private:
  std::map<std::string, Setting> settings_;
  const TlsSettings* tls_ = nullptr;
};

}  // namespace holdfast::transport
