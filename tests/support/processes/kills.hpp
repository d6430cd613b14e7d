// F028, F030, F120: kill -9 at random moments, over and over.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace holdfast::test {

// What makes the lock of a killed process free.
enum class Freed {
  at_death,     // something notices it at once; then nobody who lives loses a lock
  by_the_lease  // its end; one who lives may lose its lock too, on a machine that is too busy
};

struct Kills {
  int times;  // HOLDFAST_KILLS says another number
  Freed freed;
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  // How long somebody holds a lock at the most; all other lengths are multiples of it.
  std::chrono::microseconds turn = std::chrono::milliseconds(1);
  bool strict_order = false;  // some who wait ask for Order::fifo
};

// Five processes take two locks in turns and one after the other is killed. There are never two
// holders, no fence goes back, both locks go on being taken, and are free in the end.
void expect_one_holder_whoever_is_killed(const std::string& url, const Kills&);

struct Beginners {
  int times;
  std::chrono::microseconds within;  // how late the kill may come
  std::chrono::milliseconds lease = std::chrono::seconds(30);
};

// Two processes begin with a store that nobody has used yet, and one of them is killed: the other is
// not hindered. `make_unused` makes the store so again.
void expect_beginners_unhindered(const std::string& url, const Beginners&,
                                 const std::function<void()>& make_unused);

}  // namespace holdfast::test
