#pragma once

#include <string_view>

#include "holdfast/store/call.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {

// Which locks there are, and who is at them: lists all below the base, then what is below those whose names
// match, then reads their nodes. Many at a time, so that it takes about three round trips.
void inspect(Ground&, std::string_view pattern, Call<InspectReply>);

}  // namespace holdfast::store::zookeeper
