#pragma once

#include <span>
#include <string>

#include "store/zookeeper/tree.hpp"

namespace holdfast::store::zookeeper {

// Why a request was not done, if that is nothing its verb can do anything about.
NoAnswer failure(const Reply&, const std::string& path);

// Whether the server would not say: that a node is not there is an answer.
inline bool is_refused(const Reply& reply) {
  return reply.code != Code::ok && reply.code != Code::no_node;
}

// Of what was asked as one and not done: the one that is the reason. The others say nothing.
const Reply& reason_in(const Answers&);

// Of parents that were asked for. One that we may not make can be there all the same, and one whose own parent was
// just taken away is made the next time.
const Reply* failed_parent(std::span<const Reply> parents);

// The server's numbers for the children of that node fit no more.
Rejected numbers_ran_out(const std::string& path);

NoAnswer session_may_be_over();
NoAnswer too_many_rounds();
NoAnswer store_is_closed();

}  // namespace holdfast::store::zookeeper
