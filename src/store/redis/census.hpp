#pragma once

#include <string_view>

#include "holdfast/store/call.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/question.hpp"

namespace holdfast::store::redis {

// Looks at every lock whose name matches: goes through the keys of the server (lock_names.hpp), then looks at
// what was found, many locks at a time. One that cannot be looked at, because its keys hold something else or this
// user may not read them, is left out. One name alone is looked at directly, also if only Redisson's clients
// use that lock.
void take_census(Connection&, const Settings&, std::string_view pattern, Call<InspectReply>);

}  // namespace holdfast::store::redis
