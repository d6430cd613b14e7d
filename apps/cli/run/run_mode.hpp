#pragma once

#include <cstdint>
#include <string>

#include "cli/arguments.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {

// How `run` holds its lock.
struct RunMode {
  enum class Form : std::uint8_t { alone, shared, upgradeable, writer, permits };

  Form form = Form::alone;
  std::uint32_t take = 1;  // permits only
  std::uint32_t of = 1;

  // Throws UsageError.
  static RunMode from(const Arguments&);

  std::string text() const;  // as HOLDFAST_MODE and LockInfo::mode have it
  Pending<Hold> acquire(const Client&, const std::string& name, AcquireOptions) const;
  // How many of those who are there would be in the way, or before us in line.
  std::size_t behind(const LockInfo&) const;
};

}  // namespace holdfast::cli
