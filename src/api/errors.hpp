#pragma once

#include <string>

#include "holdfast/error.hpp"
#include "holdfast/store/lock_name.hpp"

// Errors that several parts of the API tell.
namespace holdfast::detail {

// About a lock, latch or value: "<code>: "<name>": <text>".
Error error_about(Errc, const store::LockName&, const std::string& text);

// A client is used in a child of the process that connected it.
Error forked_error();

}  // namespace holdfast::detail
