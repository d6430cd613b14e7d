#include "slewed_clock.hpp"

namespace holdfast::sim {

namespace {
constexpr std::int64_t kMillion = 1'000'000;
}

Time SlewedClock::Part::at(Time time) const {
  const Time since = time - from;
  return local + since + since / kMillion * ppm + since % kMillion * ppm / kMillion;
}

Time SlewedClock::Part::when(Time wanted) const {
  Time guess = from + static_cast<Time>(static_cast<long double>(wanted - local) * kMillion /
                                        static_cast<long double>(kMillion + ppm));
  while (guess > from && at(guess - 1) >= wanted) --guess;
  while (at(guess) < wanted) ++guess;
  return guess;
}

void SlewedClock::slew(Time from, std::int64_t ppm) { parts_.push_back({from, local(from), ppm}); }

Time SlewedClock::local(Time at) const {
  std::size_t i = parts_.size() - 1;
  while (i > 0 && parts_[i].from > at) --i;
  return parts_[i].at(at);
}

Time SlewedClock::true_time(Time wanted) const {
  if (wanted <= parts_.front().local) return 0;
  std::size_t i = parts_.size() - 1;
  while (i > 0 && parts_[i].local >= wanted) --i;
  return parts_[i].when(wanted);
}

}  // namespace holdfast::sim
