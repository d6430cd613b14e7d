#pragma once

#include "holdfast/store/call.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {

struct ToExamine {
  Duration asked_timeout{};  // 0: not known
};

// The session and what leases follow from it, the ensemble as far as a client sees it, our rights below the base.
void examine(Ground&, const ToExamine&, Call<ExamineReply>);

}  // namespace holdfast::store::zookeeper
