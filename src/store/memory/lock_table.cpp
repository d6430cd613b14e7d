#include "store/memory/lock_table.hpp"

#include <utility>

#include "rules/glob.hpp"

namespace holdfast::store {

using rules::LockEntry;
using rules::Moment;

template <class Verb>
auto LockTable::run(const LockName& name, TimePoint now, std::vector<Told>& told, Verb verb) {
  auto at = locks_.find(name);
  if (at == locks_.end()) {
    // Two looks for each new name, so that names which were left to lapse and never asked for again
    // go faster than they come.
    forget_one_idle(now);
    forget_one_idle(now);
    at = locks_.try_emplace(name).first;
  }
  Moment moment{now, fences_, told};
  if (const auto set = sizes_.find(name); set != sizes_.end()) moment.size = set->second;
  auto reply = verb(at->second, moment);
  if (at->second.idle()) locks_.erase(at);
  return reply;
}

GrantReply LockTable::try_grant(const GrantRequest& ask, TimePoint now, std::vector<Told>& told) {
  return run(ask.name, now, told,
             [&](LockEntry& lock, const Moment& at) { return lock.try_grant(ask, at); });
}

RenewalReply LockTable::renew(const Renewal& renewal, TimePoint now, std::vector<Told>& told) {
  return run(renewal.name, now, told,
             [&](LockEntry& lock, const Moment& at) { return lock.renew(renewal, at); });
}

ReleaseReply LockTable::release(const HoldKey& key, TimePoint now, std::vector<Told>& told) {
  return run(key.name, now, told,
             [&](LockEntry& lock, const Moment& at) { return lock.release(key, at); });
}

WithdrawReply LockTable::withdraw(const ClaimKey& key, TimePoint now, std::vector<Told>& told) {
  return run(key.name, now, told,
             [&](LockEntry& lock, const Moment& at) { return lock.withdraw(key, at); });
}

ForceReply LockTable::force_release(const ForceRequest& ask, TimePoint now,
                                    std::vector<Told>& told) {
  return run(ask.name, now, told,
             [&](LockEntry& lock, const Moment& at) { return lock.force_release(ask, at); });
}

void LockTable::set_size(const LockName& name, std::optional<std::uint32_t> size, TimePoint now,
                         std::vector<Told>& told) {
  if (size) {
    sizes_[name] = *size;
  } else {
    sizes_.erase(name);
  }
  run(name, now, told, [](LockEntry& lock, const Moment& at) {
    lock.settle(at);
    return 0;
  });
}

InspectReply LockTable::inspect(std::string_view pattern, TimePoint now) const {
  std::vector<LockView> found;
  for (const auto& [name, lock] : locks_) {
    if (!rules::glob_matches(pattern, name.bytes())) continue;
    LockView seen = lock.view(name, now);
    if (!seen.holds.empty() || !seen.line.empty()) found.push_back(std::move(seen));
  }
  return found;
}

void LockTable::forget_one_idle(TimePoint now) {
  auto at = locks_.upper_bound(looked_at_);
  if (at == locks_.end()) at = locks_.begin();
  if (at == locks_.end()) return;
  looked_at_ = at->first;
  at->second.drop_lapsed(now);
  if (at->second.idle()) locks_.erase(at);
}

}  // namespace holdfast::store
