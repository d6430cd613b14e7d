#include "support/switchable_store.hpp"

#include <string>
#include <utility>
#include <vector>

#include "support/relay.hpp"

namespace holdfast::test {

using namespace store;

void SwitchableStore::set(Link link) {
  const std::lock_guard lock(state_->mutex);
  state_->link = link;
}

std::size_t SwitchableStore::let_one_go() {
  Task task;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->kept.empty()) return 0;
    task = std::move(state_->kept.front());
    state_->kept.pop_front();
  }
  task();
  return 1;
}

std::size_t SwitchableStore::let_go() {
  std::size_t gone = 0;
  while (let_one_go() != 0) ++gone;
  return gone;
}

std::size_t SwitchableStore::kept() const {
  const std::lock_guard lock(state_->mutex);
  return state_->kept.size();
}

VerbCounts SwitchableStore::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

std::uint64_t SwitchableStore::renewals(const HoldKey& key) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->renewals.find(key);
  return found == state_->renewals.end() ? 0 : found->second;
}

Link SwitchableStore::count(std::uint64_t VerbCounts::*verb) {
  const std::lock_guard lock(state_->mutex);
  ++(state_->counts.*verb);
  return state_->link;
}

template <class Reply, class Verb>
void SwitchableStore::pass(Link link, Call<Reply> call, Verb verb) {
  const TimePoint deadline = call.deadline();
  switch (link) {
    case Link::up:
      verb(std::move(call));
      return;
    case Link::down:
      call.answer(NoAnswer{.executed = false, .text = "the link is down"});
      return;
    case Link::deaf:
      verb(relay<Reply>(deadline, [to = std::move(call)](Reply) mutable {
        to.answer(NoAnswer{.text = "the reply was lost"});
      }));
      return;
    case Link::paused: {
      const std::lock_guard lock(state_->mutex);
      state_->kept.emplace_back(
          [to = std::move(call), ask = std::move(verb)]() mutable { ask(std::move(to)); });
      return;
    }
    case Link::late:
      verb(relay<Reply>(deadline, [to = std::move(call), state = state_](Reply reply) mutable {
        const std::lock_guard lock(state->mutex);
        state->kept.emplace_back([to = std::move(to), reply = std::move(reply)]() mutable {
          to.answer(std::move(reply));
        });
      }));
      return;
  }
}

void SwitchableStore::try_grant(const GrantRequest& request, Call<GrantReply> call) {
  const auto state = state_;  // the answer may be the store's end
  const LockName name = request.name;
  pass(count(&VerbCounts::try_grant), std::move(call),
       [this, request](Call<GrantReply> to) { inner().try_grant(request, std::move(to)); });
  const std::lock_guard lock(state->mutex);
  ++state->asked[name];
}

std::uint64_t SwitchableStore::asked(const LockName& name) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->asked.find(name);
  return found == state_->asked.end() ? 0 : found->second;
}

void SwitchableStore::renew(std::span<const Renewal> renewals, Call<RenewReply> call) {
  const Link link = count(&VerbCounts::renew);
  {
    const std::lock_guard lock(state_->mutex);
    for (const Renewal& renewal : renewals) ++state_->renewals[renewal];
  }
  std::vector<Renewal> batch(renewals.begin(), renewals.end());
  pass(link, std::move(call), [this, batch = std::move(batch)](Call<RenewReply> to) {
    inner().renew(batch, std::move(to));
  });
}

void SwitchableStore::release(const HoldKey& key, Call<ReleaseReply> call) {
  pass(count(&VerbCounts::release), std::move(call),
       [this, key](Call<ReleaseReply> to) { inner().release(key, std::move(to)); });
}

void SwitchableStore::withdraw(const ClaimKey& key, Call<WithdrawReply> call) {
  pass(count(&VerbCounts::withdraw), std::move(call),
       [this, key](Call<WithdrawReply> to) { inner().withdraw(key, std::move(to)); });
}

WatchPtr SwitchableStore::watch(const ClaimKey& key, WakeFn wake) {
  count(&VerbCounts::watch);
  return inner().watch(key, [state = state_, wake = std::move(wake)](const Wake& told) {
    {
      const std::lock_guard lock(state->mutex);
      if (state->link == Link::down || state->link == Link::deaf) return;
    }
    wake(told);
  });
}

void SwitchableStore::inspect(std::string_view pattern, Call<InspectReply> call) {
  pass(count(&VerbCounts::inspect), std::move(call),
       [this, pattern = std::string(pattern)](Call<InspectReply> to) {
         inner().inspect(pattern, std::move(to));
       });
}

void SwitchableStore::force_release(const ForceRequest& request, Call<ForceReply> call) {
  pass(count(&VerbCounts::force_release), std::move(call),
       [this, request](Call<ForceReply> to) { inner().force_release(request, std::move(to)); });
}

void SwitchableStore::SwitchableCells::read(const CellKey& key, Call<CellReply> call) {
  store_.pass(store_.count(&VerbCounts::cells), std::move(call), [this, key](Call<CellReply> to) {
    store_.inner().cells()->read(key, std::move(to));
  });
}

void SwitchableStore::SwitchableCells::write(const CellWrite& ask, Call<CellReply> call) {
  store_.pass(store_.count(&VerbCounts::cells), std::move(call), [this, ask](Call<CellReply> to) {
    store_.inner().cells()->write(ask, std::move(to));
  });
}

void SwitchableStore::SwitchableCells::add(const CellAdd& ask, Call<CellReply> call) {
  store_.pass(store_.count(&VerbCounts::cells), std::move(call),
              [this, ask](Call<CellReply> to) { store_.inner().cells()->add(ask, std::move(to)); });
}

WatchPtr SwitchableStore::SwitchableCells::watch(const CellKey& key, CellChangedFn changed) {
  return store_.inner().cells()->watch(key, [state = store_.state_, changed = std::move(changed)] {
    {
      const std::lock_guard lock(state->mutex);
      if (state->link == Link::down || state->link == Link::deaf) return;
    }
    changed();
  });
}

void SwitchableStore::close() {
  ForwardingStore::close();
  std::deque<Task> dropped;  // each owns a Call, which answers when it is dropped
  const std::lock_guard lock(state_->mutex);
  dropped.swap(state_->kept);
}

}  // namespace holdfast::test
