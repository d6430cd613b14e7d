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

// What cannot be found out is "-".
Machine this_machine();

}  // namespace holdfast::store::sqlite
