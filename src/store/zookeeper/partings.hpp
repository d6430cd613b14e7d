#pragma once

#include "holdfast/store/call.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {

// What is not answered is deleted all the same, sooner or later: the engine gives up after a lease, but nodes do
// not lapse.
void release(Ground&, const HoldKey&, Call<ReleaseReply>);
void withdraw(Ground&, const ClaimKey&, Call<WithdrawReply>);

}  // namespace holdfast::store::zookeeper
