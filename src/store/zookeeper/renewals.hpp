#pragma once

#include <span>

#include "holdfast/store/call.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {

// One question for all of them: are their nodes there, as the leader knows, and does nobody want them back?
void renew(Ground&, std::span<const Renewal>, Call<RenewReply>);

}  // namespace holdfast::store::zookeeper
