#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "cli/demo/shelf.hpp"
#include "cli/demo/shop_plan.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {

// One shop: a process with a thread for each buyer. Every buyer reads the shelf, pays, and writes the
// shelf; all that differs between the runs is what guards these three steps.
class Shop {
 public:
  // Throws Refusal.
  explicit Shop(ShopPlan);

  // Says "ready", waits for a line, serves everybody.
  void run();

 private:
  std::vector<int> buyers();  // who were not here yet
  std::vector<Duration> arrivals(std::size_t count) const;

  void serve(int buyer);
  // False: the lock was lost during the payment, and nothing was sold.
  bool sell(Visit, const Shelf&, const Hold* = nullptr);
  void pay(const Visit&);

  const ShopPlan plan_;
  std::optional<Client> client_;
  std::deque<Shelf> shelves_;
  std::deque<std::mutex> mutexes_;  // one for each shelf, as the locks are
  std::atomic<int> paying_ = 0;     // how many came to that
};

}  // namespace holdfast::cli
