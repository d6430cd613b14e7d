#pragma once

#include "holdfast/client.hpp"
#include "holdfast/result.hpp"

namespace holdfast::cli {

// How long it takes to acquire and release a lock that nobody else wants.
struct RoundTrips {
  int count = 0;
  Duration median{};
  Duration slowest{};
};

// Takes a name that nobody else uses, but perhaps another doctor at the same time.
Result<RoundTrips> measure_round_trips(const Client&, int count);

// A lease that outlives a few slow answers: one that is too short is lost for nothing, one that is
// too long keeps others waiting for a dead holder.
Duration suggested_lease(Duration slowest);

}  // namespace holdfast::cli
