// Which rights a user of the server needs, and which of them ours has.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/finding.hpp"
#include "store/redis/question.hpp"

namespace holdfast::store::redis {

// All commands of the scripts, and those that are sent beside them.
std::span<const std::string_view> needed_commands();

// What an administrator types for a user that can do all that locks need, and nothing else. The name of a lock
// is a key, so the keys are all there are; docs/stores/redis.md shows how to limit them to some names.
std::string acl_line();

// Tries the commands on keys of a name that nobody uses; leaves nothing behind.
Question ask_rights(const LockName&, const Settings&);
// `command` is the one that ran the script.
std::vector<Finding> rights_in(const Reply&, std::string_view command);

}  // namespace holdfast::store::redis
