#include "cli/demo/shop.hpp"

#include <algorithm>
#include <latch>
#include <random>
#include <set>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "cli/boot_now.hpp"
#include "cli/chosen_store.hpp"
#include "cli/demo/partner.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

std::int64_t now_ns() { return boot_now().time_since_epoch().count(); }

AcquireOptions order_of(const Visit& visit, Duration lease) {
  return {.wait = 2min, .lease = lease, .reason = "order of buyer " + std::to_string(visit.buyer)};
}

// From where other threads wait for us: they are not to be joined.
[[noreturn]] void give_up(const Refusal& refusal) {
  say("holdfast: " + std::string(refusal.what()) + "\n");
  _exit(refusal.code());
}

}  // namespace

Shop::Shop(ShopPlan plan) : plan_(std::move(plan)) {
  if (plan_.guarding == Guarding::holdfast) {
    client_ = ChosenStore(Arguments()).connect({.program = shop_name(plan_.shop)});
  }
  for (int article = 0; article < plan_.articles; ++article) {
    shelves_.emplace_back(plan_.shelf(article));
    mutexes_.emplace_back();
  }
}

std::vector<int> Shop::buyers() {
  std::set<int> served;
  for (int article = 0; plan_.reopened && article < plan_.articles; ++article) {
    auto hold = client_->mutex(plan_.lock_name(article)).acquire({.lease = plan_.lease});
    if (!hold) throw Refusal(hold.error());
    shelves_[static_cast<std::size_t>(article)].read_and_repair();
    for (const Visit& visit : shelves_[static_cast<std::size_t>(article)].ledger()) {
      served.insert(visit.buyer);
    }
  }
  std::vector<int> left;
  for (int i = 0; i < kBuyersPerShop; ++i) {
    const int buyer = plan_.shop * kBuyersPerShop + i;
    if (!served.contains(buyer)) left.push_back(buyer);
  }
  return left;
}

// Within a few milliseconds, in an order that the seed makes.
std::vector<Duration> Shop::arrivals(std::size_t count) const {
  std::mt19937_64 random(plan_.seed * kShops + static_cast<std::uint64_t>(plan_.shop));
  std::vector<Duration> times;
  for (std::size_t i = 0; i < count; ++i)
    times.push_back(std::chrono::microseconds(random() % 5000));
  return times;
}

void Shop::run() {
  const std::vector<int> expected = buyers();
  const std::vector<Duration> times = arrivals(expected.size());
  std::latch here(static_cast<std::ptrdiff_t>(expected.size()));
  std::latch open(1);
  std::vector<std::jthread> threads;
  const auto buyer_thread = [&](int buyer, Duration time) {
    here.count_down();
    open.wait();
    std::this_thread::sleep_for(time);
    try {
      serve(buyer);
    } catch (const Refusal& refusal) {
      give_up(refusal);
    }
  };
  try {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      threads.emplace_back(buyer_thread, expected[i], times[i]);
    }
  } catch (const std::system_error&) {
    give_up(Refusal(exit_code::kOsError, "cannot start 400 threads; see ulimit -u"));
  }
  here.wait();
  print("ready " + std::to_string(expected.size()) + "\n");
  if (hear_from_starter().empty()) _exit(exit_code::kInternal);
  open.count_down();
}

void Shop::serve(int buyer) {
  const int article = article_of(buyer, plan_.articles);
  const auto at = static_cast<std::size_t>(article);
  const Shelf& shelf = shelves_[at];
  const Visit visit{.buyer = buyer, .asked = now_ns()};
  switch (plan_.guarding) {
    case Guarding::nothing:
      sell(visit, shelf);
      break;
    case Guarding::std_mutex: {
      const std::lock_guard lock(mutexes_[at]);
      sell(visit, shelf);
      break;
    }
    case Guarding::holdfast:
      for (bool served = false; !served;) {
        auto hold = client_->mutex(plan_.lock_name(article)).acquire(order_of(visit, plan_.lease));
        if (!hold) throw Refusal(hold.error());
        served = sell(visit, shelf, &*hold);
        if (auto released = hold->release(); !released && served) throw Refusal(released.error());
      }
  }
}

bool Shop::sell(Visit visit, const Shelf& shelf, const Hold* hold) {
  visit.entered = now_ns();
  visit.fence = hold != nullptr ? hold->fence().value() : 0;
  ShelfRecord record = hold != nullptr ? shelf.read_and_repair() : shelf.read();
  visit.units = record.units >= kUnitsPerBuyer ? kUnitsPerBuyer : 0;
  if (visit.units > 0) pay(visit);
  if (hold != nullptr && !hold->valid()) return false;
  record.units -= visit.units;
  record.visits += 1;
  visit.left = now_ns();
  record.last = visit;
  shelf.write(record);
  return true;
}

void Shop::pay(const Visit& visit) {
  const int which = ++paying_;
  if (which == plan_.hang_at) {
    print("hangs " + std::to_string(visit.fence) + "\n");
    std::this_thread::sleep_for(30s);  // it is killed long before
  }
  std::this_thread::sleep_for(kPayment);
}

}  // namespace holdfast::cli
