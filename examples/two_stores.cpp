// Takes a lock in each of two stores as one: both or none.
//
//   two_stores [URL URL]      the stores to use; two that live in this process if none are given
#include <array>
#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;

namespace {

// Moves goods from one warehouse to the other. Each has its own store, and its own programs that lock
// there without knowing of the other.
bool move_goods(const holdfast::Mutex& from, const holdfast::Mutex& to, int& stock_from,
                int& stock_to) {
  // The order does not matter: all callers take the locks in the same one, so nobody waits in a circle.
  // Five seconds are for both together. If one cannot be had, the other is not kept either.
  auto both = holdfast::acquire_all(std::array{from, to}, {.wait = 5s, .reason = "moving goods"});
  if (!both) {
    std::cerr << both.error().text() << '\n';
    return false;
  }
  // If one of them is lost, the whole is. Each has its own fence, for its own database.
  if (both->valid()) {
    --stock_from;
    ++stock_to;
  }
  return both->release().has_value();
}

}  // namespace

int main(int argc, char** argv) {
  const auto north = holdfast::connect(argc > 2 ? argv[1] : "memory:north");
  const auto south = holdfast::connect(argc > 2 ? argv[2] : "memory:south");
  if (!north || !south) {
    std::cerr << (north ? south : north).error().text() << '\n';
    return 1;
  }
  const holdfast::Mutex here = north->mutex("stock");
  const holdfast::Mutex there = south->mutex("stock");
  int stock_here = 1000;
  int stock_there = 1000;
  bool good = true;
  bool good_back = true;
  std::thread back([&] {
    for (int i = 0; i < 100; ++i) good_back &= move_goods(there, here, stock_there, stock_here);
  });
  for (int i = 0; i < 200; ++i) good &= move_goods(here, there, stock_here, stock_there);
  back.join();
  std::cout << stock_here << " here, " << stock_there << " there\n";
  return good && good_back && stock_here == 900 && stock_there == 1100 ? 0 : 1;
}
