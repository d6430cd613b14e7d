#pragma once

#include <vector>

#include "holdfast/finding.hpp"
#include "holdfast/time.hpp"
#include "store/redis/address.hpp"
#include "store/redis/server_info.hpp"

namespace holdfast::store::redis {

// What an operator should know of a server that says this about itself.
std::vector<Finding> findings_about(const ServerInfo&, const Address&);

// How we speak to it, and as whom: the reply to ACL WHOAMI.
Finding connection_finding(const Address&);
Finding user_finding(const Address&, const Reply& who);

// The reply to TIME, asked and answered at these times of ours.
Finding clock_finding(const Reply& time, WallTime asked, WallTime answered);

}  // namespace holdfast::store::redis
