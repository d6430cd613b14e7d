#pragma once

#include <string>

#include "holdfast/store/url.hpp"

namespace holdfast::detail {

// What names a store in the order in which several locks are taken. It depends on nothing but the
// URL, so that every process that writes the URL of a store alike has the same order; user, password
// and options are left out, because they say how to come in and not where.
std::string store_id(const store::Url&);

}  // namespace holdfast::detail
