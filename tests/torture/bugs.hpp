// Mistakes on purpose: a run with one of them must be found out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::torture {

#define HOLDFAST_TORTURE_BUGS(X)                                                          \
  X(ignore_lost, "a holder takes itself for one until it lets go, whatever valid() says") \
  X(forget_release, "a hold is forgotten and goes on being renewed")                      \
  X(ignore_fences, "the guarded resource accepts every fence")

enum class Bug : std::uint8_t {
  none,
#define X(name, text) name,
  HOLDFAST_TORTURE_BUGS(X)
#undef X
};

// Makes this program have that bug: one of ours, or one of the engine's if it was built with those (then
// none of ours is left to do). Nothing if there is no such bug.
std::optional<Bug> plant(std::string_view name);

}  // namespace holdfast::torture
