#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/lease_machine.hpp"
#include "holdfast/error.hpp"
#include "holdfast/store/lock_name.hpp"
#include "holdfast/store/replies.hpp"

namespace holdfast::core {

// "1.5s", "250ms": for texts.
std::string short_text(Duration);

// The error a waiter is told: names the lock, the holder, the time left and the next step. Without memory
// for that, Errc::out_of_memory.
Error explain(Errc why, const store::LockName& lock, Duration waited,
              const std::optional<store::Refused>& refusal, std::string_view cause) noexcept;

// The error of a hold that ended before its release.
Error lost_error(const store::LockName& lock, LostWhy why) noexcept;

}  // namespace holdfast::core
