// A process that holds a lock, and what one sees of it from outside.
#pragma once

#include <string>
#include <string_view>

#include "holdfast/client.hpp"
#include "support/child_process.hpp"

namespace holdfast::test {

// Takes "lock" and does as it is told. Arguments: URL, lease in ms.
// Tells its fence; then hears
//   release    tells "released", or the error's name
//   valid      tells "yes" or "no"
//   lost       tells "lost" when that fires
extern const Role kHolder;

// A fence as it is told.
std::string text_of(FencingToken);
FencingToken fence_from(const std::string& text);  // 0 if nothing was told

// Until somebody stands in line for the lock, in a store that has lines.
bool comes_to_wait(const Client&, std::string_view name = "lock");

}  // namespace holdfast::test
