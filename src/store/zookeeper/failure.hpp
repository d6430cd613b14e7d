#pragma once

#include <string>

#include "store/zookeeper/tree.hpp"

namespace holdfast::store::zookeeper {

// Why a request was not done, if that is nothing its verb can do anything about.
NoAnswer failure(const Reply&, const std::string& path);

NoAnswer session_may_be_over();
NoAnswer too_many_rounds();
NoAnswer store_is_closed();

}  // namespace holdfast::store::zookeeper
