#pragma once

#include "holdfast/store/random.hpp"

namespace holdfast::runtime {

// Chance from the kernel, getrandom(2).
//
// Guarantees   A child process never draws what its parent drew: nothing is kept between two calls.
//              It costs a system call each; it is used for client ids and for jitter, not in a
//              loop.
// On error     Throws std::system_error if the kernel refuses. To go on with a guessable client id
//              would be worse.
// Threads      From any thread.
class KernelRandom final : public store::Random {
 public:
  std::uint64_t next() override;
};

}  // namespace holdfast::runtime
