#pragma once

#include <string_view>

#include "holdfast/store/replies.hpp"
#include "store/redis/resp.hpp"

namespace holdfast::store::redis {

// What an error reply of the server means. The text is for people, and holds no secrets.
NoAnswer failure_of(std::string_view error);

// It is about the keys of the one lock that was asked for: others may be well.
bool concerns_one_lock(const Reply& failure);

// Of a reply that is none of those a question can have.
NoAnswer no_answer(const Reply&);

}  // namespace holdfast::store::redis
