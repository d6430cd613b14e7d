#include "store/directory/directory_store.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "holdfast/fence.hpp"
#include "rules/glob.hpp"
#include "store/directory/failure.hpp"
#include "store/directory/findings.hpp"

namespace holdfast::store::directory {

using Step = Steps::Step;

namespace {

// How often a client that waits looks whether the lock was released.
constexpr std::chrono::milliseconds kLookEvery{25};
// How often one question follows others that were quicker.
constexpr int kRaces = 3;
constexpr std::uint64_t kLastGeneration = kMaxFence >> DirectoryStore::kFenceShift;

std::uint64_t fence_of(std::uint64_t generation) {
  return generation << DirectoryStore::kFenceShift;
}

std::optional<Rejected> objection(const GrantRequest& ask) {
  if (ask.kind != Kind::mutex || ask.shape != Shape::exclusive() || ask.instead_of) {
    return Rejected{Errc::unsupported, "this store keeps exclusive mutexes only"};
  }
  if (ask.order == Order::fifo) {
    return Rejected{Errc::unsupported, "this store has no line, so it cannot serve in order"};
  }
  if (ask.name.bytes().empty()) return Rejected{Errc::invalid_name, "a lock needs a name"};
  return std::nullopt;
}

}  // namespace

DirectoryStore::DirectoryStore(Parts parts)
    : clock_(parts.clock),
      client_(parts.client),
      place_(std::move(parts.place)),
      root_(Folder::at(place_.path, spare_)),
      steps_(parts.steps != nullptr ? *parts.steps : no_steps_),
      worker_(std::make_unique<transport::Worker>("holdfast-dir", [this] { look_at_claims(); })) {}

DirectoryStore::~DirectoryStore() { close(); }

Capabilities DirectoryStore::capabilities() const { return {.mutex_any = true, .inspect = true}; }

// ---- how a verb is answered ----

template <class Reply, class Arguments, class Verb>
void DirectoryStore::ask(Call<Reply> call, const Arguments& arguments, Verb verb) {
  if (closed_ || call.may_block() || worker_->on_this_thread()) {
    return perform(std::move(call), arguments, verb);
  }
  worker_->post([this, call = std::move(call), arguments, verb]() mutable {
    perform(std::move(call), arguments, verb);
  });
}

// The answer comes last: it may be what the store's end waited for.
template <class Reply, class Arguments, class Verb>
void DirectoryStore::perform(Call<Reply> call, const Arguments& arguments, Verb verb) {
  Reply reply = [&]() -> Reply {
    const std::lock_guard lock(mutex_);
    if (closed_) return NoAnswer{.executed = false, .text = "the store is closed"};
    const transport::SpareFds::Use use(spare_);
    try {
      return verb(*this, arguments);
    } catch (const Failure& failure) {
      return failure.no_answer();
    } catch (const std::bad_alloc&) {
      return NoAnswer{.why = Errc::out_of_memory};
    }
  }();
  call.answer(std::move(reply));
}

// ---- looking ----

bool DirectoryStore::root_is_there() const { return Folder::id_of(place_.path) == root_.id(); }

void DirectoryStore::need_root() const {
  if (root_is_there()) return;
  throw Failure(Errc::store_corrupt, "the folder " + shown(place_.path) +
                                         " was removed or replaced while it was in use; what was "
                                         "locked in it is lost. Start this program again");
}

std::optional<DirectoryStore::Sight> DirectoryStore::look_at(const LockName& name) {
  const TimePoint looked = clock_.now();
  std::optional<LockFolder> folder = LockFolder::find(root_, pieces_of(name));
  Seen seen;
  if (folder) seen = folder->look();
  if (stopwatches_.left_of_missing(name, seen.generation, looked) > Duration::zero()) {
    throw Removed(Errc::store_corrupt,
                  "somebody removed " + shown(place_of(Kind::mutex, name)) +
                      " while the lock was held; it is free when the lease of its holder is over");
  }
  if (!folder) {
    stopwatches_.forget(name);
    return std::nullopt;
  }
  Sight sight{*std::move(folder), std::move(seen), {}};
  if (sight.seen.released) {
    stopwatches_.forget(name);
  } else {
    sight.left = stopwatches_.left(name, sight.seen, looked, clock_.now());
  }
  return sight;
}

std::optional<DirectoryStore::Sight> DirectoryStore::look_at_own(const LockName& name) {
  // Whoever opens the path of a folder that was moved finds another one, and no lock in it.
  if (name.bytes().empty() || !root_is_there()) return std::nullopt;
  try {
    return look_at(name);
  } catch (const Removed&) {
    return std::nullopt;
  }
}

bool DirectoryStore::Sight::is(const HoldKey& key) const {
  return key.kind == Kind::mutex && key.owner == seen.claim.owner &&
         key.fence == fence_of(seen.generation);
}

DirectoryStore::Own* DirectoryStore::own(const LockName& name, const Seen& seen) {
  const auto found = own_.find(name);
  return found == own_.end() || found->second.generation != seen.generation ? nullptr
                                                                            : &found->second;
}

// ---- taking ----

void DirectoryStore::try_grant(const GrantRequest& request, Call<GrantReply> call) {
  ask(std::move(call), request,
      [](DirectoryStore& self, const GrantRequest& it) { return self.do_grant(it); });
}

GrantReply DirectoryStore::do_grant(const GrantRequest& ask) {
  if (auto no = objection(ask)) return *std::move(no);
  need_root();
  for (int races = 0; races < kRaces; ++races) {
    std::optional<Sight> sight = look_at(ask.name);
    if (!sight) {
      LockFolder::make(root_, pieces_of(ask.name), place_, clock_.wall_now(), stamp());
      continue;
    }
    const Seen& seen = sight->seen;
    // The same owner again: its first answer was lost.
    if (sight->held() && seen.claim.owner == ask.owner && !seen.revoked) {
      if (std::holds_alternative<Renewed>(keep(ask.name, *sight, ask.lease))) {
        return Granted{fence_of(seen.generation), seen.claim.spare, ask.lease};
      }
      continue;
    }
    if (sight->held()) return refusal(*sight);
    if (seen.generation >= kLastGeneration) {
      return Rejected{Errc::store_full, "this lock has used up its fences; use another folder"};
    }
    if (publish(ask, *sight)) {
      return Granted{fence_of(seen.generation + 1), std::min(ask.spare, kMostSpare), ask.lease};
    }
  }
  const std::optional<Sight> sight = look_at(ask.name);
  return sight ? refusal(*sight) : Refused{};
}

bool DirectoryStore::publish(const GrantRequest& ask, const Sight& sight) {
  const std::uint64_t generation = sight.seen.generation + 1;
  const Claim claim{ask.owner, ask.lease, std::min(ask.spare, kMostSpare), ask.record};
  // Noted before it can be seen: if the answer is lost on the way here, asking again finds it.
  own_[ask.name] = {generation, later(clock_.now(), ask.lease)};
  const bool ours = sight.folder.publish(claim, sight.seen, place_, stamp(), steps_);
  if (!ours) {
    own_.erase(ask.name);
    return false;
  }
  stopwatches_.restart(ask.name, generation, text_of(claim), ask.lease, clock_.now());
  sight.folder.clean(clock_.wall_now(), steps_);
  return true;
}

Refused DirectoryStore::refusal(const Sight& sight) const {
  Refused no;
  if (sight.held()) no.holder = sight.seen.claim.record;
  no.lease_left = sight.left.lease;
  no.retry_after = sight.left.silence;
  no.fence_counter = fence_of(sight.seen.generation) + sight.seen.claim.spare;
  return no;
}

// ---- keeping ----

void DirectoryStore::renew(std::span<const Renewal> renewals, Call<RenewReply> call) {
  if (renewals.size() > kMaxBatch) {
    call.answer(NoAnswer{.why = Errc::invalid_argument,
                         .executed = false,
                         .text = "more renewals at once than Store::kMaxBatch"});
    return;
  }
  ask(std::move(call), std::vector<Renewal>(renewals.begin(), renewals.end()),
      [](DirectoryStore& self, const std::vector<Renewal>& them) -> RenewReply {
        std::vector<RenewalReply> replies;
        for (const Renewal& each : them) {
          try {
            replies.push_back(self.do_renew(each));
          } catch (const Failure& failure) {
            replies.emplace_back(failure.no_answer());
          }
        }
        return replies;
      });
}

RenewalReply DirectoryStore::do_renew(const Renewal& renewal) {
  const std::optional<Sight> sight = look_at_own(renewal.name);
  if (!sight || !sight->is(renewal) || !sight->held()) return Gone{};
  if (sight->seen.revoked) return Gone{.forced = true};
  return keep(renewal.name, *sight, renewal.lease);
}

RenewalReply DirectoryStore::keep(const LockName& name, const Sight& sight, Duration lease) {
  const TimePoint before = clock_.now();
  Own* const mine = own(name, sight.seen);
  if (mine == nullptr || before >= mine->until) {
    let_go(name, sight);
    return Gone{};
  }
  const std::uint64_t generation = sight.seen.generation;
  const TimePoint old_end = mine->until;
  // If the answer gets lost from here on, whichever lease ends first counts.
  mine->until = std::min(old_end, later(before, lease));
  std::string life =
      sight.folder.beat({sight.seen.beat.count + 1, lease}, generation, place_, stamp());
  steps_.at(Step::beaten);
  bool revoked = false;
  const bool passed = perhaps_done([&] {
    revoked = sight.folder.revoked(generation);
    return sight.folder.newest() != generation || sight.folder.released(generation);
  });
  const TimePoint after = clock_.now();
  if (passed || after >= old_end) {
    let_go(name, sight);
    return Gone{};
  }
  stopwatches_.restart(name, generation, std::move(life), lease, after);
  if (revoked) return Gone{.forced = true};
  mine->until = later(before, lease);
  return Renewed{lease};
}

// ---- giving back ----

bool DirectoryStore::let_go(const LockName& name, const Sight& sight) {
  own_.erase(name);
  const bool released = sight.folder.release(sight.seen.generation);
  stopwatches_.forget(name);
  return released;
}

void DirectoryStore::release(const HoldKey& key, Call<ReleaseReply> call) {
  ask(std::move(call), key,
      [](DirectoryStore& self, const HoldKey& it) { return self.do_release(it); });
}

ReleaseReply DirectoryStore::do_release(const HoldKey& key) {
  const std::optional<Sight> sight = look_at_own(key.name);
  if (!sight || !sight->is(key) || !sight->held()) return Gone{};
  const Own* const mine = own(key.name, sight->seen);
  const bool in_time = mine != nullptr && clock_.now() < mine->until;
  if (let_go(key.name, *sight) && in_time) return Released{};
  return Gone{};
}

void DirectoryStore::withdraw(const ClaimKey& key, Call<WithdrawReply> call) {
  ask(std::move(call), key,
      [](DirectoryStore& self, const ClaimKey& it) { return self.do_withdraw(it); });
}

WithdrawReply DirectoryStore::do_withdraw(const ClaimKey& key) {
  const std::optional<Sight> sight = look_at_own(key.name);
  if (sight && key.kind == Kind::mutex && !sight->seen.released &&
      sight->seen.claim.owner == key.owner) {
    let_go(key.name, *sight);
  }
  return Withdrawn{};
}

void DirectoryStore::force_release(const ForceRequest& request, Call<ForceReply> call) {
  ask(std::move(call), request,
      [](DirectoryStore& self, const ForceRequest& it) { return self.do_force(it); });
}

ForceReply DirectoryStore::do_force(const ForceRequest& ask) {
  if (ask.kind != Kind::mutex) {
    return Rejected{Errc::unsupported, "this store keeps exclusive mutexes only"};
  }
  need_root();
  const std::optional<Sight> sight = look_at(ask.name);
  if (!sight || !sight->held() || fence_of(sight->seen.generation) != ask.fence) {
    return ChangedHands{};
  }
  if (!ask.now) {
    sight->folder.revoke(sight->seen.generation);
    return Forced{};
  }
  if (sight->folder.release(sight->seen.generation)) return Forced{};
  return ChangedHands{};
}

// ---- waiting ----

WatchPtr DirectoryStore::watch(const ClaimKey& key, WakeFn wake) {
  WatchPtr watch = watches_.add(key, std::move(wake));
  worker_->listen(kLookEvery);
  return watch;
}

void DirectoryStore::look_at_claims() {
  const std::vector<ClaimKey> claims = watches_.claims();
  if (claims.empty()) {
    worker_->listen(kForever);
    if (!watches_.empty()) worker_->listen(kLookEvery);  // one came while we said so
    return;
  }
  std::set<LockName> free;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    const transport::SpareFds::Use use(spare_);
    std::set<LockName> looked_at;
    for (const ClaimKey& claim : claims) {
      if (!looked_at.insert(claim.name).second) continue;
      try {
        const std::optional<Sight> sight = look_at(claim.name);
        if (!sight || !sight->held()) free.insert(claim.name);
      } catch (const Failure&) {  // it looks again soon; what is really wrong the verbs will tell
      }
    }
  }
  for (const ClaimKey& claim : claims) {
    if (!free.contains(claim.name)) continue;
    for (const auto& wake : watches_.find(claim.owner)) (*wake)(Wake{});
  }
}

// ---- for people ----

void DirectoryStore::inspect(std::string_view pattern, Call<InspectReply> call) {
  ask(std::move(call), std::string(pattern),
      [](DirectoryStore& self, const std::string& it) { return self.do_inspect(it); });
}

InspectReply DirectoryStore::do_inspect(const std::string& pattern) {
  need_root();
  std::vector<LockView> found;
  for (const Pieces& pieces : locks_in(root_)) {
    const auto name = name_from(pieces);
    if (!name || !rules::glob_matches(pattern, name->bytes())) continue;
    const std::optional<Sight> sight = look_at(*name);
    if (!sight || !sight->held()) continue;
    LockView& lock = found.emplace_back();
    lock.name = *name;
    ClaimView& hold = lock.holds.emplace_back();
    hold.owner = sight->seen.claim.owner;
    hold.record = sight->seen.claim.record;
    hold.fence = fence_of(sight->seen.generation);
    hold.lease_left = sight->left.lease;
    hold.revoked = sight->seen.revoked;
  }
  return found;
}

std::string DirectoryStore::place_of(Kind, const LockName& name) const {
  std::string path = place_.path;
  for (const std::string& piece : pieces_of(name)) path += "/" + piece;
  return path;
}

void DirectoryStore::examine(Call<ExamineReply> call) {
  ask(std::move(call), 0, [](DirectoryStore& self, int) -> ExamineReply {
    self.need_root();
    return findings_about(self.place_, self.root_, self.clock_.wall_now());
  });
}

// ---- the end ----

std::string DirectoryStore::stamp() { return to_string(client_) + "-" + std::to_string(++stamps_); }

void DirectoryStore::close() {
  worker_->stop();
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace holdfast::store::directory

// ---- connect() ----

namespace holdfast::store {
namespace {

constexpr std::array<std::string_view, 1> kSchemes{"dir"};

Result<std::unique_ptr<Store>> open(const Url& url, const Surroundings& around) {
  try {
    return std::unique_ptr<Store>(std::make_unique<directory::DirectoryStore>(
        directory::DirectoryStore::Parts{directory::find_place(url), around.clock, around.client}));
  } catch (const directory::Failure& failure) {
    const NoAnswer& none = failure.no_answer();
    return Error(none.why, std::string(name_of(none.why)) + ": " + none.text);
  }
}

}  // namespace

constinit const StoreFactory k_directory_factory{kSchemes, &open};

}  // namespace holdfast::store
