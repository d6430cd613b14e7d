// What the scripts reply about locks, in the words of the store contract. A reply that makes no sense is
// NoAnswer{protocol}, whatever it is: what a server says is outside input.
#pragma once

#include <cstddef>
#include <optional>
#include <variant>

#include "holdfast/store/replies.hpp"
#include "store/redis/resp.hpp"

namespace holdfast::store::redis {

struct GrantAnswer {
  GrantReply reply;
  // Whoever is in the way is not ours: only Redisson's channel will tell when it is gone. As long as this is
  // false there is no need to listen there, and then Redisson's own waiters can be told from ours.
  bool foreign = false;
};

GrantAnswer grant_in(const Reply&);
RenewReply renewals_in(const Reply&, std::size_t asked);
ReleaseReply release_in(const Reply&);
WithdrawReply withdraw_in(const Reply&);
ForceReply force_in(const Reply&);

// No view: nobody holds it, and nobody waits for it.
using ViewReply = std::variant<NoAnswer, std::optional<LockView>>;
ViewReply view_in(const Reply&, const LockName&);

}  // namespace holdfast::store::redis
