#include "torture/lock_list.hpp"

namespace holdfast::torture {

std::vector<LockPlan> lock_list(const store::Capabilities& can, Duration lease) {
  std::vector<LockPlan> locks{{.name = "orders", .lease = lease},
                              {.name = "stock", .lease = lease},
                              {.name = "invoices", .lease = lease / 3},
                              {.name = "nightly", .lease = lease / 3}};
  if (can.shared) {
    locks.push_back({.name = "menu", .kind = store::Kind::shared_mutex, .lease = lease});
    locks.push_back({.name = "prices", .kind = store::Kind::shared_mutex, .lease = lease / 3});
  }
  if (can.permits) {
    locks.push_back(
        {.name = "printers", .kind = store::Kind::semaphore, .lease = lease / 2, .permits = 3});
  }
  return locks;
}

}  // namespace holdfast::torture
