// Which locks there are. Redis has no list of them, and one of our own would lie on one server of a cluster and
// be written by every grant; so the keys are gone through, a thousand at a time, on each master. That takes as
// long as the server has keys, blocks nobody, and is only done for people who look. A lock that only Redisson's
// clients use has no key of ours: it is found by its name, not by a pattern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "holdfast/store/replies.hpp"
#include "store/redis/resp.hpp"

namespace holdfast::store::redis {

inline constexpr std::string_view kFirstNames = "0";  // and, as a cursor that came back, the end
Words ask_names(std::string_view cursor);

struct SomeNames {
  std::string cursor;           // for the next question
  std::vector<LockName> names;  // one may come twice
};
std::variant<NoAnswer, SomeNames> names_in(const Reply&);

// The only name that a pattern stands for; none if it has a * or ?.
std::optional<LockName> only_name(std::string_view pattern);

}  // namespace holdfast::store::redis
