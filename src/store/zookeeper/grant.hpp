#pragma once

#include "holdfast/store/call.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {

void try_grant(Ground&, const GrantRequest&, Call<GrantReply>);

// In the turn of a claim that waits: has it what it waits for? Then it is offered.
void look(Ground&, Places::Turn);
// In the turn of a claim that has lapsed without anybody knowing whether it has nodes: they go.
void clear(Ground&, Places::Turn);

}  // namespace holdfast::store::zookeeper
