#pragma once

#include "holdfast/store/call.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {

// Whoever holds it, also Curator's clients: these are asked by the same words, and let go if their program
// listens.
void force_release(Ground&, const ForceRequest&, Call<ForceReply>);

}  // namespace holdfast::store::zookeeper
