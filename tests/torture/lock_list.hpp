// The locks that are fought for.
#pragma once

#include <string>
#include <vector>

#include "checker/history.hpp"
#include "holdfast/client.hpp"
#include "holdfast/store/capabilities.hpp"
#include "holdfast/store/keys.hpp"

namespace holdfast::torture {

struct LockPlan {
  std::string name;
  store::Kind kind = store::Kind::mutex;
  // Each lock has one, so that a lock which is passed on between threads keeps its lease.
  Duration lease{};
  std::uint32_t permits = 1;  // of a semaphore

  bool guards() const { return kind != store::Kind::semaphore; }
};

// Those that the store can have.
std::vector<LockPlan> lock_list(const store::Capabilities&, Duration lease);

}  // namespace holdfast::torture
