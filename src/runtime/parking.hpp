#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::runtime {

// Where one thread sleeps until another wakes it.
//
//   state      unpark()              park()
//   empty      -> noted              -> parked, sleeps
//   noted      stays                 -> empty, returns at once
//   parked     -> noted, wakes it    (a second thread must not park)
//
// Guarantees   Sticky: an unpark before the park is not lost; several count as one. A park returns
//              only for an unpark. What was written before the unpark is seen after the park.
// Blocking     Until unparked, however long that takes. There is no timed park on purpose: futexes
//              and condition variables do not count the time a machine sleeps. Deadlines are timers
//              of the loop, which unpark.
// Lifetime     Share it (std::shared_ptr) between the one who parks and those who unpark. Then the
//              sleeper may drop its share right after it wakes, while unpark() is still returning.
// Threads      unpark() from any thread, park() from one thread at a time.
class ParkingSpot {
 public:
  ParkingSpot() = default;
  ParkingSpot(const ParkingSpot&) = delete;
  ParkingSpot& operator=(const ParkingSpot&) = delete;

  void park() noexcept;
  void unpark() noexcept;

 private:
  std::atomic<std::uint32_t> state_{0};
};

}  // namespace holdfast::runtime
