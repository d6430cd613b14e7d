#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/store/requests.hpp"

namespace holdfast::store::redis {

// What a client is told on its wake channel.
struct WakeMessage {
  std::uint64_t claim = 0;
  std::string lock;
  Wake wake;
};

// scripts/line.lua says how it is written. None if it is nothing of the kind.
std::optional<WakeMessage> wake_in(std::string_view message);

}  // namespace holdfast::store::redis
