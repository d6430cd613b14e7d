// What a lock server does, without the server: one table of locks and the verbs of the store
// contract as functions of a question and the time. What a verb does to its lock: rules/lock_entry.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "holdfast/store/replies.hpp"
#include "holdfast/store/requests.hpp"
#include "holdfast/time.hpp"
#include "rules/lock_entry.hpp"

namespace holdfast::store {

using rules::Told;

// Locks, their holders and their lines. The memory store shares one behind a mutex; the simulation
// and the tests of other stores use it as the model of a server that is always right.
//
// Guarantees   Deterministic: the same questions at the same times give the same answers. One fence
//              counter serves all names, so a free lock leaves nothing behind. Wakes are appended to
//              `told` in the order in which they should be delivered.
// Time         Told with each question; it must not go back.
// Threads      None of its own, and no lock: one caller at a time.
class LockTable {
 public:
  explicit LockTable(std::uint64_t fence_counter = 0) : fences_(fence_counter) {}

  GrantReply try_grant(const GrantRequest&, TimePoint now, std::vector<Told>& told);
  RenewalReply renew(const Renewal&, TimePoint now, std::vector<Told>& told);
  ReleaseReply release(const HoldKey&, TimePoint now, std::vector<Told>& told);
  WithdrawReply withdraw(const ClaimKey&, TimePoint now, std::vector<Told>& told);
  ForceReply force_release(const ForceRequest&, TimePoint now, std::vector<Told>& told);

  // How many permits the semaphore has from now on; none: as many as its claims say.
  void set_size(const LockName&, std::optional<std::uint32_t> size, TimePoint now,
                std::vector<Told>& told);

  // In the order of names. What has lapsed is not shown.
  InspectReply inspect(std::string_view pattern, TimePoint now) const;

  std::size_t size() const { return locks_.size(); }  // locks stored, lapsed ones included
  std::uint64_t fence_counter() const { return fences_.last(); }

 private:
  using Locks = std::map<LockName, rules::LockEntry>;

  // verb(lock, moment), on a lock that is forgotten afterwards if nobody wants it.
  template <class Verb>
  auto run(const LockName&, TimePoint now, std::vector<Told>& told, Verb verb);
  void forget_one_idle(TimePoint now);

  Locks locks_;
  std::map<LockName, std::uint32_t> sizes_;  // that were set
  rules::FenceCounter fences_;
  LockName looked_at_;  // how far forget_one_idle() has come
};

}  // namespace holdfast::store
