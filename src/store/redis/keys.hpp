// What things are called in Redis.
//
//   N                              the lock as Redisson knows it: its name, byte for byte
//   holdfast_<what>:{N}            ours beside it, in the same slot of a cluster
//   holdfast_<what>:{t}:N          the same if N contains a }, which would end the tag early; t is N's own
//                                  tag, or some text that happens to lie in N's slot
//   redisson_lock__channel:{N}     Redisson's channel of a mutex, redisson_rwlock:{N} of a shared mutex
//   holdfast_wake:<client>         where one client is told of its turns
//
// The scripts build the other keys of a lock from N and from holdfast_lock:… (scripts/lock.lua).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/store/cells.hpp"
#include "holdfast/store/keys.hpp"

namespace holdfast::store::redis {

// Which of the 16384 parts of a cluster a key lies in.
std::uint16_t slot_of(std::string_view key);

// `what` is made of letters, digits, _ and :.
std::string own_key(std::string_view what, const LockName&);
std::string lock_key(const LockName&);
// The name that a lock_key() was made from; none if it is something else.
std::optional<LockName> name_in(std::string_view lock_key);

// A lock of this name would lie in a key that is ours or Redisson's beside another lock.
bool is_taken_by_keys(const LockName&);

// For people: the key to look at.
std::string place_of(Kind, const LockName&);

std::string cell_key(const CellKey&);
std::string cell_channel(const CellKey&);  // a message when the cell has changed
std::string op_key(const CellKey&, const ClientId&);

std::string wake_channel(const ClientId&);
// Where Redisson tells that such a lock is free. Empty for a semaphore: ours are not Redisson's.
std::string redisson_channel(Kind, const LockName&);
// The same, and where one of Redisson's fair holders tells our line, which has a place among its fair waiters.
std::vector<std::string> redisson_channels(Kind, const LockName&);

// In Redisson's shape, a UUID and a number: "9f0c1d2e-…-0123456789ab:17".
std::string owner_text(const OwnerId&);
std::optional<OwnerId> owner_in(std::string_view text);

}  // namespace holdfast::store::redis
