#pragma once

#include <string>

#include "holdfast/time.hpp"

namespace holdfast::cli {

WallTime wall_now();

// What `now - since` is, as far as a Duration can say it: `since` is somebody else's word.
Duration age_of(WallTime since, WallTime now);

// For machines: "2026-01-31T14:02:11.250Z".
std::string iso_text(WallTime);

// For people, in their time zone: "14:02:11", with the date if it was not today.
std::string local_text(WallTime when, WallTime now);

}  // namespace holdfast::cli
