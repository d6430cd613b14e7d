#pragma once

#include <string>

namespace holdfast::store::sqlite {

// Whose BOOTTIME the leases in a file are counted in.
struct Machine {
  std::string id;              // survives a boot
  std::string boot;            // new with each boot
  std::string time_namespace;  // a container may have one of its own, with another BOOTTIME

  friend bool operator==(const Machine&, const Machine&) = default;
};

// A machine without an id has "-", and so has a kernel without time namespaces. Throws Failure if the
// boot cannot be told: whoever took that for a new boot would take everybody's locks away.
Machine this_machine();

}  // namespace holdfast::store::sqlite
