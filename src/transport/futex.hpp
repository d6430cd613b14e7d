#pragma once

#include <atomic>
#include <cstdint>

#include "holdfast/time.hpp"

namespace holdfast::transport {

// A word that threads sleep on, also of other processes if it lies in memory that they share.
using FutexWord = std::atomic<std::uint32_t>;
static_assert(sizeof(FutexWord) == sizeof(std::uint32_t) && FutexWord::is_always_lock_free);

// Sleeps while the word is `seen`, at most so long. May return early for no reason.
void futex_wait(FutexWord&, std::uint32_t seen, Duration at_most) noexcept;
// Changes the word and wakes everybody who sleeps on it.
void futex_bump(FutexWord&) noexcept;

// For a few microseconds: between two looks at something that another process is about to let go.
void brief_pause(Duration) noexcept;

}  // namespace holdfast::transport
