// What a caller does next, from a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "holdfast/options.hpp"
#include "holdfast/store/capabilities.hpp"
#include "support/seeded_random.hpp"
#include "torture/lock_list.hpp"

namespace holdfast::torture {

struct Action {
  enum class Exchange : std::uint8_t { none, upgrade, downgrade };

  std::size_t lock = 0;  // in the list
  store::Shape shape{};
  AcquireOptions options{};
  bool blocking = true;  // else by a Pending, which leaves its client free to go
  Duration rest{};       // before it asks
  Duration work{};       // while it holds
  bool careful = true;   // asks valid() before it writes; the others write whatever happened
  Exchange exchange = Exchange::none;  // after the work
  bool confirmed = true;               // release() instead of the destructor
};

// Where a caller's chance begins: another stream for each worker, generation and caller.
std::uint64_t stream_of(std::uint64_t seed, std::uint32_t worker, std::uint32_t generation,
                        std::uint32_t caller);

Action draw(test::SeededRandom&, const std::vector<LockPlan>&, const store::Capabilities&);

}  // namespace holdfast::torture
