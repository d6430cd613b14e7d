// Why a claim cannot be granted, in the words that every store uses for it.
#pragma once

#include <cstdint>
#include <optional>

#include "holdfast/store/keys.hpp"
#include "holdfast/store/replies.hpp"
#include "holdfast/store/requests.hpp"

namespace holdfast::rules {

// A question that makes no sense, whatever state the lock is in.
std::optional<store::Rejected> objection(const store::GrantRequest&);

// What depends on the lock.
store::Rejected in_use_as(store::Kind);
store::Rejected other_size(std::uint32_t there_are, const store::Shape& asked);
store::Rejected never_so_many(std::uint32_t there_are, const store::Shape& asked);
store::Rejected old_hold_is_gone();
store::Rejected old_hold_is_revoked();
store::Rejected fences_ran_out();

}  // namespace holdfast::rules
