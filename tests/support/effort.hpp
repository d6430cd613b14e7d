// How much a test does that could go on for ever.
#pragma once

namespace holdfast::test {

// Less of it, then.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// A number from the environment, for runs that are longer than usual.
int times_from(const char* variable, int usual);

// HOLDFAST_SEED, else another one each time. It is printed, so that every run can be repeated.
unsigned chosen_seed();

}  // namespace holdfast::test
