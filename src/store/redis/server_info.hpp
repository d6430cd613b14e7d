#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "store/redis/resp.hpp"

namespace holdfast::store::redis {

// What a server says about itself: the lines "name:value" of INFO, and settings. It may say nothing, or
// nonsense: then there is no value.
class ServerInfo {
 public:
  void add_info(const Reply&);    // to INFO
  void add_config(const Reply&);  // to CONFIG GET: a name and its value; under "config." here

  bool knows_anything() const { return !values_.empty(); }
  std::string_view text(std::string_view name) const;  // "": it was not said
  bool is(std::string_view name, std::string_view value) const { return text(name) == value; }
  std::optional<std::uint64_t> number(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace holdfast::store::redis
