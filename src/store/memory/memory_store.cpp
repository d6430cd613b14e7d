#include "store/memory/memory_store.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::store {

// --- the server ---

std::shared_ptr<MemoryServer> MemoryServer::named(const std::string& name) {
  struct Registry {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<MemoryServer>> servers;
  };
  // Never destroyed: a client may still be opened while the process exits. A forked child has its own,
  // since a thread that it does not have may hold the mutex of its parent's.
  static std::atomic<Registry*> current{new Registry};
  static std::atomic<pid_t> owner{::getpid()};
  if (const pid_t self = ::getpid(); owner.exchange(self) != self) current = new Registry;
  Registry& registry = *current;

  const std::lock_guard lock(registry.mutex);
  std::erase_if(registry.servers, [](const auto& entry) { return entry.second.expired(); });
  auto& known = registry.servers[name];
  auto server = known.lock();
  if (!server) {
    server = std::make_shared<MemoryServer>();
    known = server;
  }
  return server;
}

template <class Verb>
auto MemoryServer::run(const Clock& clock, Verb verb) {
  std::vector<Told> told;
  auto reply = [&] {
    const std::lock_guard lock(mutex_);
    // The clock is read inside, so that the table never sees time go back.
    return verb(table_, clock.now(), told);
  }();
  for (const Told& each : told) {
    for (const auto& wake : watches_.find(each.who)) (*wake)(each.wake);
  }
  return reply;
}

// The cell is read inside: of two who change it at once, the last one here sees what it holds in the
// end.
void MemoryServer::resized(const LockName& name, const Clock& clock) {
  run(clock, [&](LockTable& table, TimePoint now, std::vector<Told>& told) {
    table.set_size(name, cells_.size_of(name), now, told);
    return 0;
  });
}

// --- a client's store ---

Capabilities MemoryStore::capabilities() const {
  return {.mutex_any = true,
          .mutex_fifo = true,
          .shared = true,
          .downgrade = true,
          .upgradeable = true,
          .permits = true,
          .cells = true,
          .hand_over = true,
          .inspect = true};
}

// The answer comes last: once the last Call is answered the store may be destroyed.
template <class Reply, class Verb>
void MemoryStore::ask(Call<Reply> call, Verb verb) {
  if (closed_) {
    call.answer(NoAnswer{.executed = false, .text = "the store is closed"});
    return;
  }
  Reply reply;
  try {
    reply = server_->run(clock_, std::move(verb));
  } catch (const std::bad_alloc&) {
    reply = NoAnswer{.why = Errc::out_of_memory};
  }
  call.answer(std::move(reply));
}

void MemoryStore::try_grant(const GrantRequest& request, Call<GrantReply> call) {
  ask(std::move(call), [&](LockTable& table, TimePoint now, std::vector<Told>& told) {
    return table.try_grant(request, now, told);
  });
}

void MemoryStore::renew(std::span<const Renewal> renewals, Call<RenewReply> call) {
  if (renewals.size() > kMaxBatch) {
    call.answer(NoAnswer{.why = Errc::invalid_argument,
                         .executed = false,
                         .text = "more renewals at once than Store::kMaxBatch"});
    return;
  }
  ask(std::move(call), [&](LockTable& table, TimePoint now, std::vector<Told>& told) {
    std::vector<RenewalReply> replies;
    replies.reserve(renewals.size());
    for (const Renewal& renewal : renewals) replies.push_back(table.renew(renewal, now, told));
    return RenewReply(std::move(replies));
  });
}

void MemoryStore::release(const HoldKey& key, Call<ReleaseReply> call) {
  ask(std::move(call), [&](LockTable& table, TimePoint now, std::vector<Told>& told) {
    return table.release(key, now, told);
  });
}

void MemoryStore::withdraw(const ClaimKey& key, Call<WithdrawReply> call) {
  ask(std::move(call), [&](LockTable& table, TimePoint now, std::vector<Told>& told) {
    return table.withdraw(key, now, told);
  });
}

WatchPtr MemoryStore::watch(const ClaimKey& key, WakeFn wake) {
  return server_->watch(key, std::move(wake));
}

void MemoryStore::inspect(std::string_view pattern, Call<InspectReply> call) {
  ask(std::move(call), [&](const LockTable& table, TimePoint now, const std::vector<Told>&) {
    return table.inspect(pattern, now);
  });
}

void MemoryStore::force_release(const ForceRequest& request, Call<ForceReply> call) {
  ask(std::move(call), [&](LockTable& table, TimePoint now, std::vector<Told>& told) {
    return table.force_release(request, now, told);
  });
}

// --- connect() ---

namespace {

constexpr std::array<std::string_view, 1> kSchemes{"memory"};

Result<std::unique_ptr<Store>> open(const Url& url, const Surroundings& around) {
  if (!url.options.empty()) {
    return Error(Errc::invalid_argument, "memory: takes no options; remove \"" +
                                             printable(url.options.begin()->first) +
                                             "\" from the URL");
  }
  return std::unique_ptr<Store>(
      std::make_unique<MemoryStore>(MemoryServer::named(url.rest), around.clock));
}

}  // namespace

constinit const StoreFactory k_memory_factory{kSchemes, &open};

}  // namespace holdfast::store
