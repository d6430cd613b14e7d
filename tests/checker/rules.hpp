// The rules of the checker, one function for each; what they promise is said at enum Rule.
#pragma once

#include <vector>

#include "checker/findings.hpp"
#include "checker/locks.hpp"

namespace holdfast::check {

void check_form(const History& history, Findings& found);

void check_exclusion(const Lock& lock, Findings& found);
void check_invalid_in_time(const Lock& lock, Findings& found);

void check_fence_order(const Lock& lock, Findings& found);
void check_fence_once(const Lock& lock, Findings& found);

void check_served(const Lock& lock, const Terms& terms, Findings& found);
void check_fifo(const Lock& lock, Findings& found);

void check_no_lost_update(const History& history, Findings& found);
void check_no_ghosts(const History& history, const std::vector<Lock>& locks, Findings& found);
void check_renewals(const History& history, Findings& found);
void check_verified(const History& history, const std::vector<Lock>& locks, Findings& found);

}  // namespace holdfast::check
