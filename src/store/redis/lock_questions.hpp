// The verbs of the store contract as questions to the server; lock_answers.hpp reads the replies. Nothing here
// sends, waits or remembers. What makes no sense, whatever the lock is, must have been rejected before
// (rules/objections.hpp).
#pragma once

#include <span>

#include "holdfast/store/requests.hpp"
#include "store/redis/question.hpp"

namespace holdfast::store::redis {

// Whether the client's channel stands: then silence shows that the client has gone.
enum class Listens : bool { not_yet, already };

Question ask_grant(const GrantRequest&, const Settings&, Listens);
Question ask_renewals(std::span<const Renewal>,
                      const Settings&);  // 1 or more; in a cluster, of one slot
Question ask_release(const HoldKey&, const Settings&);
Question ask_withdraw(const ClaimKey&, const Settings&);
Question ask_force(const ForceRequest&, const Settings&);
Question ask_view(const LockName&, const Settings&);

}  // namespace holdfast::store::redis
