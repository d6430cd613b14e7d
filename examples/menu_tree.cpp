// Walks over a tree whose functions each take the lock, whether or not their caller has it already.
//
//   menu_tree [URL]      the store to use; memory: if none is given, to have a look
#include <algorithm>
#include <cstdint>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

struct Dish {
  std::string name;
  int cents = 0;
  std::vector<Dish> parts{};  // a menu is made of dishes, and of menus
};

// The menu card of all branches of a restaurant: one process at a time may work on it.
class Card {
 public:
  explicit Card(holdfast::ReentrantMutex lock) : lock_(std::move(lock)) {}

  // Callers may have the lock or not: this one has it for sure. Each level of the tree counts one more.
  int raise_prices(Dish& dish, int percent) {
    const std::lock_guard guard(lock_);
    deepest_ = std::max(deepest_, lock_.count());
    dish.cents += dish.cents * percent / 100;
    int sum = dish.cents;
    for (Dish& part : dish.parts) sum += raise_prices(part, percent);
    return sum;
  }

  // Reads a sum that belongs together with the prices it has just raised.
  void raise_and_print(Dish& dish, int percent) {
    const std::lock_guard guard(lock_);
    const int sum = raise_prices(dish, percent);
    // The whole walk has one fence, however deep it went: a database can refuse older ones.
    std::cout << dish.name << " costs " << sum << " cents now, changed under fence "
              << lock_.fence()->value() << ", locked " << deepest_ << " times at the deepest\n";
    // What was lost on the way must not be published.
    if (!lock_.valid()) throw std::system_error(make_error_code(holdfast::Errc::lost));
  }

 private:
  holdfast::ReentrantMutex lock_;
  std::uint64_t deepest_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::connect(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().text() << '\n';
    return 1;
  }
  Dish menu{"the menu of the day",
            0,
            {{"soup", 400},
             {"main course", 0, {{"fish", 1200}, {"sides", 0, {{"rice", 200}, {"peas", 100}}}}},
             {"ice cream", 300}}};
  const auto lock = client->reentrant_mutex("menu card", {.reason = "new prices"});
  try {
    Card(lock).raise_and_print(menu, 10);
  } catch (const std::system_error& error) {  // lock() has no other way to say it
    std::cerr << error.what() << '\n';
    return 75;
  }
  return lock.count() == 0 ? 0 : 1;
}
