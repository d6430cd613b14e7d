#include "store/zookeeper/failure.hpp"

#include <algorithm>

#include "holdfast/store/lock_name.hpp"

namespace holdfast::store::zookeeper {

NoAnswer failure(const Reply& reply, const std::string& path) {
  const std::string where = printable(path);
  constexpr bool kNotDone = false;
  switch (reply.code) {
    case Code::no_auth:
      return {Errc::permission, kNotDone,
              "ZooKeeper does not allow this at " + where + "; look at its ACL"};
    case Code::too_large:
      return {Errc::store_full, kNotDone,
              "that is more than the server takes at once (jute.maxbuffer), at " + where};
    case Code::no_children_for_ephemerals:
      return {Errc::invalid_name, kNotDone,
              "a node that ends with its session stands above " + where + "; choose another name"};
    case Code::ok:
    case Code::no_node:
    case Code::node_exists:
    case Code::bad_version:
    case Code::not_empty:
    case Code::other:
      break;
  }
  return {Errc::protocol, kNotDone,
          "ZooKeeper answered with error " + std::to_string(reply.raw) + " at " + where};
}

const Reply& reason_in(const Answers& answers) {
  const auto tells = [](const Reply& each) {
    return each.code != Code::ok && each.code != Code::other;
  };
  const auto found = std::find_if(answers.replies.begin(), answers.replies.end(), tells);
  return found == answers.replies.end() ? answers.replies.front() : *found;
}

const Reply* failed_parent(std::span<const Reply> parents) {
  for (const Reply& each : parents) {
    if (is_refused(each) && each.code != Code::node_exists) return &each;
  }
  return nullptr;
}

Rejected numbers_ran_out(const std::string& path) {
  return {Errc::store_full, "the server has no more numbers for those who wait at " +
                                printable(path) + "; delete it while nobody uses the lock"};
}

NoAnswer session_may_be_over() {
  return {Errc::unavailable, true, "the session with ZooKeeper may be over"};
}

NoAnswer too_many_rounds() {
  return {Errc::unavailable, true, "the line changed faster than it could be looked at"};
}

NoAnswer store_is_closed() { return {Errc::unavailable, false, "the store is closed"}; }

}  // namespace holdfast::store::zookeeper
