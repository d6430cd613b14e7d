#pragma once

#include <stop_token>

#include "holdfast/time.hpp"

namespace holdfast {

// How to wait for something that is not a lock.
struct WaitOptions {
  Duration wait = kForever;  // 0 = one look
  std::stop_token stop{};    // gives up the wait
};

}  // namespace holdfast
