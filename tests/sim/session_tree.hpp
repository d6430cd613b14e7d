// What every replica of a session store keeps: for each lock the entries of those who want it, in
// the order of their creation. An entry is granted by its place alone: once nothing stands before it
// that is in its way, nothing ever will again.
#pragma once

#include <map>
#include <vector>

#include "holdfast/store/keys.hpp"

namespace holdfast::sim {

// A client's session; the number grows with each new one of that client.
struct SessionId {
  std::uint32_t client = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const SessionId&, const SessionId&) = default;
};

struct Entry {
  store::OwnerId owner;
  store::Shape shape;
  SessionId session;
  std::uint64_t sequence = 0;  // of its creation: decides who is before whom
  std::uint64_t fence = 0;
  bool revoked = false;
  bool granted = false;  // was noted as such, by the leader
};

using Entries = std::vector<Entry>;

// Whether the entry has what it wants.
bool is_granted(const Entries&, const Entry&);

class SessionTree {
 public:
  Entries& of(const store::LockName& name) { return locks_[name]; }
  const Entry* find(const store::LockName&, const store::OwnerId&) const;
  Entry* find(const store::LockName&, const store::OwnerId&);
  bool erase(const store::LockName&, const store::OwnerId&);
  // Takes out what one session has in that lock.
  Entries erase(const store::LockName&, const SessionId&);
  void copy(const store::LockName& name, const SessionTree& from);

  const std::map<store::LockName, Entries>& locks() const { return locks_; }

 private:
  std::map<store::LockName, Entries> locks_;
};

}  // namespace holdfast::sim
