#pragma once

#include <stdexcept>
#include <string>

#include "cli/exit_code.hpp"
#include "holdfast/error.hpp"

namespace holdfast::cli {

// The program cannot go on: what to say and how to exit. An exception, since every depth of reading
// arguments may find one and only main() acts on it. The text is ready to be shown: whatever comes
// from outside has passed shown().
class Refusal : public std::runtime_error {
 public:
  Refusal(int exit_code, const std::string& text) : std::runtime_error(text), code_(exit_code) {}
  explicit Refusal(const Error& error)
      : std::runtime_error(error.text()), code_(exit_code_of(error.errc())) {}

  int code() const noexcept { return code_; }

 private:
  int code_;
};

// The command line itself is wrong.
class UsageError : public Refusal {
 public:
  explicit UsageError(const std::string& text) : Refusal(exit_code::kUsage, text) {}
};

}  // namespace holdfast::cli
