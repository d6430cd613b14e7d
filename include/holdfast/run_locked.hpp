#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "holdfast/hold.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/result.hpp"

namespace holdfast {

// Acquires, runs work(hold), releases and waits for the confirmation.
//
// Returns      What work returned, as a Result (a Result from work is passed on as it is).
// On error     The acquire's error, and work did not run. Errc::lost or forced if the lock was not
//              ours to the end: what work did may have been done by another too; its value is dropped.
//              An error of work itself is passed on, the lock is released all the same.
// Exceptions   Those of work pass through; the lock is released.
template <class Work>
auto run_locked(const Mutex& mutex, AcquireOptions options, Work&& work) {
  using Value = std::invoke_result_t<Work, Hold&>;
  Result<Hold> hold = mutex.acquire(std::move(options));
  if constexpr (std::is_void_v<Value>) {
    if (!hold) return Result<void>(hold.error());
    std::invoke(std::forward<Work>(work), *hold);
    return hold->release();
  } else if constexpr (requires(Value v) {
                         typename Value::error_type;
                         v.error();
                       }) {
    if (!hold) return Value(hold.error());
    Value value = std::invoke(std::forward<Work>(work), *hold);
    if (Result<void> released = hold->release(); !released && value) return Value(released.error());
    return value;
  } else {
    if (!hold) return Result<Value>(hold.error());
    Value value = std::invoke(std::forward<Work>(work), *hold);
    if (Result<void> released = hold->release(); !released) return Result<Value>(released.error());
    return Result<Value>(std::move(value));
  }
}

}  // namespace holdfast
