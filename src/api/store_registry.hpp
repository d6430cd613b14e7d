#pragma once

#include <span>

#include "holdfast/store/factory.hpp"

namespace holdfast::store {

// The stores of this build. The definition is generated from the lines in src/store/CMakeLists.txt.
std::span<const StoreFactory* const> registered_stores();

}  // namespace holdfast::store
