#include "store/sqlite/sqlite_store.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "rules/glob.hpp"
#include "store/sqlite/findings.hpp"
#include "store/sqlite/lock_rows.hpp"
#include "store/sqlite/set_up.hpp"
#include "store/sqlite/statements.hpp"

namespace holdfast::store::sqlite {

using rules::LockEntry;
using rules::Moment;
using rules::Told;
using transport::Fd;

namespace {

// How often a client that waits makes sure that the holder lives, and that it missed no wake.
constexpr std::chrono::milliseconds kLookEvery{200};
// Free locks keep a row for their fence until there are so many of them.
constexpr std::int64_t kFreeRowsKept = 256;

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }

bool simple(const GrantRequest& ask) {
  return ask.kind == Kind::mutex && ask.shape == Shape::exclusive() && !ask.instead_of &&
         !ask.name.bytes().empty();
}

}  // namespace

SqliteStore::SqliteStore(Parts parts)
    : clock_(parts.clock),
      client_(parts.client),
      client_bytes_(bytes_of(parts.client)),
      place_(std::move(parts.place)),
      sessions_(set_up_sessions(place_)),
      db_(set_up(place_, sessions_, parts.machine, clock_)) {
  if (parts.has_worker) {
    worker_ = std::make_unique<transport::Worker>("holdfast-sqlite", [this] {
      look_at_claims();
      look_at_cells();
    });
  }
}

SqliteStore::~SqliteStore() { close(); }

Capabilities SqliteStore::capabilities() const {
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

// ---- how a verb is answered ----

template <class Reply, class Arguments, class Verb>
void SqliteStore::ask(Call<Reply> call, const Arguments& arguments, Verb verb) {
  if (!worker_ || closed_ || call.may_block() || worker_->on_this_thread()) {
    return perform(std::move(call), arguments, verb);
  }
  worker_->post([this, call = std::move(call), arguments, verb]() mutable {
    perform(std::move(call), arguments, verb);
  });
}

// The answer comes last: it may be what the store's end waited for.
template <class Reply, class Arguments, class Verb>
void SqliteStore::perform(Call<Reply> call, const Arguments& arguments, Verb verb) {
  Wakes wakes;
  Reply reply = [&]() -> Reply {
    const std::lock_guard lock(mutex_);
    if (closed_) return NoAnswer{.executed = false, .text = "the store is closed"};
    return attempt<Reply>(call.deadline(), arguments, verb, wakes);
  }();
  deliver(wakes);
  call.answer(std::move(reply));
}

template <class Reply, class Arguments, class Verb>
Reply SqliteStore::attempt(TimePoint deadline, const Arguments& arguments, Verb verb,
                           Wakes& wakes) {
  // A little earlier: "certainly not done" helps only if it arrives in time.
  asked_at_ = clock_.now();
  db_->give_up_at(deadline - left_until(deadline, asked_at_) / 8);
  for (bool first = true;; first = false) {
    try {
      return verb(*this, arguments, wakes);
    } catch (const Failure& failure) {
      wakes.clear();
      const NoAnswer& none = failure.no_answer();
      // On a full disk the log's own space is all there is: once copied back it can be used again,
      // so that what was taken can also be given back.
      if (none.why != Errc::store_full || !first || !find_room()) return none;
      asked_at_ = clock_.now();
    } catch (const std::bad_alloc&) {
      wakes.clear();
      return NoAnswer{.why = Errc::out_of_memory, .executed = false};
    }
  }
}

bool SqliteStore::find_room() {
  try {
    const bool more = db_->keep_room();
    return db_->empty_log() || more;
  } catch (const Failure&) {
    return false;
  }
}

void SqliteStore::deliver(const Wakes& wakes) {
  ClientId last_woken{};
  for (const Told& told : wakes) {
    if (told.who.client == client_) {
      for (const auto& wake : watches_.find(told.who)) (*wake)(told.wake);
    } else if (told.who.client != last_woken) {
      sessions_.wake(told.who.client);
      last_woken = told.who.client;
    }
  }
}

// ---- verbs ----

template <class Verb>
auto SqliteStore::with_lock(const LockName& name, Wakes& wakes, Verb verb, Kind asked) {
  Proofs proofs;  // kept until it is written down
  Transaction transaction(*db_);
  LockRows rows(*db_, name);
  Moment at{clock_.now(), rows.fences, wakes};
  pass_over_the_dead(rows.entry, at.now, proofs);
  if (asked == Kind::semaphore || rows.entry.kind == Kind::semaphore) at.size = size_of(*db_, name);
  auto reply = verb(rows.entry, at);
  rows.save();
  transaction.commit();
  return reply;
}

void SqliteStore::try_grant(const GrantRequest& request, Call<GrantReply> call) {
  ask(std::move(call), request, [](SqliteStore& self, const GrantRequest& it, Wakes& wakes) {
    return self.do_grant(it, wakes);
  });
}

GrantReply SqliteStore::do_grant(const GrantRequest& ask, Wakes& wakes) {
  need_file(db_->moved_lately(asked_at_));
  need_session();
  if (simple(ask)) {
    const TimePoint now = asked_at_;
    Statement grant = db_->prepare(kGrant);
    grant.bind_blob(ask.name.bytes())
        .bind_blob(client_bytes_)
        .bind(signed_of(ask.owner.claim))
        .bind(signed_of(ask.spare))
        .bind(ns(now))
        .bind(ns(later(now, ask.lease)));
    bind_record(grant, ask.record);
    grant.run();
    if (db_->changes() == 1) {
      return Granted{static_cast<std::uint64_t>(db_->noted(0)),
                     static_cast<std::uint64_t>(db_->noted(1)), ask.lease};
    }
  }
  return with_lock(
      ask.name, wakes, [&](LockEntry& lock, const Moment& at) { return lock.try_grant(ask, at); },
      ask.kind);
}

void SqliteStore::renew(std::span<const Renewal> renewals, Call<RenewReply> call) {
  if (renewals.size() > kMaxBatch) {
    call.answer(NoAnswer{.why = Errc::invalid_argument,
                         .executed = false,
                         .text = "more renewals at once than Store::kMaxBatch"});
    return;
  }
  ask(std::move(call), std::vector<Renewal>(renewals.begin(), renewals.end()),
      [](SqliteStore& self, const std::vector<Renewal>& them, Wakes& wakes) {
        return self.do_renew(them, wakes);
      });
}

RenewReply SqliteStore::do_renew(const std::vector<Renewal>& renewals, Wakes& wakes) {
  // Whoever opens the name now finds another file, and no lock in it.
  if (db_->moved()) return std::vector<RenewalReply>(renewals.size(), Gone{});
  std::vector<RenewalReply> replies(renewals.size(), Gone{});
  std::vector<std::size_t> not_simple;
  {
    std::optional<Transaction> together;
    if (renewals.size() > 1) together.emplace(*db_);
    const TimePoint now = clock_.now();
    for (std::size_t i = 0; i < renewals.size(); ++i) {
      const Renewal& each = renewals[i];
      const std::string client = bytes_of(each.owner.client);
      if (each.kind == Kind::mutex) {
        db_->prepare(kRenew)
            .bind(ns(later(now, each.lease)))
            .bind_blob(each.name.bytes())
            .bind_blob(client)
            .bind(signed_of(each.owner.claim))
            .bind(signed_of(each.fence))
            .bind(ns(now))
            .run();
      }
      if (each.kind == Kind::mutex && db_->changes() == 1) {
        replies[i] = Renewed{each.lease};
      } else {
        not_simple.push_back(i);
      }
    }
    if (together) together->commit();
  }
  for (const std::size_t i : not_simple) {
    replies[i] = with_lock(renewals[i].name, wakes, [&](LockEntry& lock, const Moment& at) {
      return lock.renew(renewals[i], at);
    });
  }
  return replies;
}

void SqliteStore::release(const HoldKey& key, Call<ReleaseReply> call) {
  ask(std::move(call), key, [](SqliteStore& self, const HoldKey& it, Wakes& wakes) {
    return self.do_release(it, wakes);
  });
}

ReleaseReply SqliteStore::do_release(const HoldKey& key, Wakes& wakes) {
  if (key.kind == Kind::mutex) {
    const bool ours = key.owner.client == client_;
    const std::string other = ours ? std::string() : bytes_of(key.owner.client);
    db_->prepare(kRelease)
        .bind_blob(key.name.bytes())
        .bind_blob(ours ? client_bytes_ : other)
        .bind(signed_of(key.owner.claim))
        .bind(signed_of(key.fence))
        .bind(ns(asked_at_))
        .run();
    if (db_->changes() == 1) return Released{};
  }
  return with_lock(key.name, wakes,
                   [&](LockEntry& lock, const Moment& at) { return lock.release(key, at); });
}

void SqliteStore::withdraw(const ClaimKey& key, Call<WithdrawReply> call) {
  ask(std::move(call), key, [](SqliteStore& self, const ClaimKey& it, Wakes& wakes) {
    return self.with_lock(it.name, wakes,
                          [&](LockEntry& lock, const Moment& at) { return lock.withdraw(it, at); });
  });
}

void SqliteStore::force_release(const ForceRequest& request, Call<ForceReply> call) {
  ask(std::move(call), request, [](SqliteStore& self, const ForceRequest& it, Wakes& wakes) {
    self.need_file(self.db_->moved());
    return self.with_lock(it.name, wakes, [&](LockEntry& lock, const Moment& at) {
      return lock.force_release(it, at);
    });
  });
}

// ---- life and death ----

void SqliteStore::pass_over_the_dead(LockEntry& lock, TimePoint now, Proofs& proofs) {
  // One proof for all claims of a client: a second look would find the file locked, by us.
  const auto dead = [&](const ClientId& client) {
    if (proofs.count(client) != 0) return true;
    Fd proof = proof_of_death(client);
    return proof && proofs.emplace(client, std::move(proof)).second;
  };
  lock.drop_lapsed(now);
  std::erase_if(lock.holds, [&](const auto& hold) { return dead(hold.owner.client); });
  // Whom the lock would be offered to.
  const bool only_holder = lock.kind == Kind::mutex && !lock.holds.empty();
  while (!only_holder && !lock.line.empty() && dead(lock.line.front().owner.client)) {
    lock.line.pop_front();
  }
}

Fd SqliteStore::proof_of_death(const ClientId& client) {
  if (client == client_) return {};
  const std::string bytes = bytes_of(client);
  Statement row = db_->prepare(kFindSession);
  row.bind_blob(bytes);
  if (!row.step()) return {};
  return sessions_.proof_of_death(client, {row.integer(0), row.integer(1)});
}

void SqliteStore::need_file(bool moved) const {
  if (!moved) return;
  throw Failure(Errc::store_corrupt, "the file " + place_.database +
                                         " was removed or replaced while it was in use; what was "
                                         "locked in it is lost. Start this program again");
}

void SqliteStore::need_session() {
  if (session_) return;
  auto session = sessions_.open_session(client_);
  try {
    db_->prepare(kAddSession)
        .bind_blob(client_bytes_)
        .bind(session->id().device)
        .bind(session->id().inode)
        .run();
  } catch (...) {
    sessions_.remove(client_);
    throw;
  }
  session_ = std::move(session);
  if (worker_) worker_->listen_to(session_->word());

  Wakes wakes;
  try {
    bury_the_dead(wakes);
    drop_free_rows();
  } catch (const Failure&) {  // the next one who begins here goes on with it
  }
  for (const Told& told : wakes) sessions_.wake(told.who.client);
}

// Everybody who begins here looks after those who ended without a word.
void SqliteStore::bury_the_dead(Wakes& wakes) {
  std::map<ClientId, FileId> known;
  {
    Statement row = db_->prepare(kAllSessions);
    while (row.step()) known[client_from(row.bytes(0))] = {row.integer(1), row.integer(2)};
  }
  for (const auto& [client, id] : known) {
    if (client == client_) continue;
    if (const Fd proof = sessions_.proof_of_death(client, id)) {
      bury(client, wakes);
      sessions_.remove(client);
    } else if (!sessions_.has(client, id)) {  // its file is gone; without claims so is the rest
      const std::string bytes = bytes_of(client);
      db_->prepare(kEndSession).bind_blob(bytes).run();
    }
  }
  for (const ClientId& client : sessions_.clients()) {
    const auto row_of_it = known.find(client);
    const bool alive = row_of_it != known.end() && sessions_.has(client, row_of_it->second);
    if (client == client_ || alive) continue;
    const Fd lock = sessions_.lock_of_abandoned(client);
    const std::string bytes = bytes_of(client);
    Statement row = db_->prepare(kFindSession);  // it may have come after we read the rows
    row.bind_blob(bytes);
    if (lock && !row.step()) sessions_.remove(client);
  }
}

void SqliteStore::bury(const ClientId& client, Wakes& wakes) {
  const std::string bytes = bytes_of(client);
  Proofs proofs;
  Transaction transaction(*db_);
  std::vector<std::string> names;
  {
    Statement row = db_->prepare(kNamesOfClient);
    row.bind_blob(bytes);
    while (row.step()) names.push_back(row.bytes(0));
  }
  const TimePoint now = clock_.now();
  for (const std::string& bytes_of_name : names) {
    const auto name = LockName::checked(bytes_of_name);
    if (!name) throw Failure(Errc::store_corrupt, "a lock has an impossible name");
    LockRows rows(*db_, *name);
    const auto is_its = [&](const auto& claim) { return claim.owner.client == client; };
    std::erase_if(rows.entry.holds, is_its);
    std::erase_if(rows.entry.line, is_its);
    pass_over_the_dead(rows.entry, now, proofs);
    Moment at{now, rows.fences, wakes};
    if (rows.entry.kind == Kind::semaphore) at.size = size_of(*db_, *name);
    rows.entry.settle(at);
    rows.save();
  }
  db_->prepare(kEndSession).bind_blob(bytes).run();
  transaction.commit();
}

void SqliteStore::drop_free_rows() {
  const std::int64_t now = ns(clock_.now());
  Statement count = db_->prepare(kCountFree);
  count.bind(now);
  if (!count.step() || count.integer(0) <= kFreeRowsKept) return;
  Transaction transaction(*db_);
  db_->prepare(kDropLapsedLine).bind(now).run();
  db_->prepare(kDropLapsedShares).bind(now).run();
  db_->prepare(kFreeUnshared).run();
  db_->prepare(kRaiseFloor).bind(now).run();
  db_->prepare(kDropFree).bind(now).run();
  transaction.commit();
}

int SqliteStore::lifeline() {
  const std::lock_guard lock(mutex_);
  return session_ ? session_->descriptor() : -1;
}

// ---- watching ----

WatchPtr SqliteStore::watch(const ClaimKey& claim, WakeFn wake) {
  WatchPtr watch = watches_.add(claim, std::move(wake));
  if (worker_) worker_->listen(kLookEvery);
  return watch;
}

void SqliteStore::look_at_claims() {
  Wakes wakes;
  {
    const std::vector<ClaimKey> claims = watches_.claims();
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    db_->give_up_at(later(clock_.now(), kLookEvery));
    try {
      std::map<LockName, Sight> seen;  // a crowd of our own that waits for one lock looks once
      for (const ClaimKey& claim : claims) {
        auto at = seen.find(claim.name);
        if (at == seen.end()) at = seen.emplace(claim.name, look_at(claim.name)).first;
        if (const auto wake = at->second.wake_for(claim.owner)) {
          wakes.push_back({claim.owner, *wake});
        }
      }
    } catch (const Failure&) {  // it looks again soon; what is really wrong the verbs will tell
    }
  }
  deliver(wakes);
}

SqliteStore::Sight SqliteStore::look_at(const LockName& name) {
  Sight sight;
  Statement row = db_->prepare(kLook);
  row.bind_blob(name.bytes());
  const TimePoint now = clock_.now();
  if (!row.step()) return sight;
  if (row.integer(6) != 0) return look_at_shares(name, now);
  const TimePoint until = from_ns(row.integer(4));
  if (row.null(0) || rules::lapsed(until, now)) return sight;
  const OwnerId holder{client_from(row.bytes(0)), static_cast<std::uint64_t>(row.integer(1))};
  if (proof_of_death(holder.client)) return sight;
  sight.may_ask = false;
  if (row.integer(5) == 0) return sight;
  sight.offers[holder] = {
      static_cast<std::uint64_t>(row.integer(2)), static_cast<std::uint64_t>(row.integer(3)), {}};
  sight.left = left_until(until, now);
  Statement head = db_->prepare(kHead);
  head.bind_blob(name.bytes());
  if (head.step()) {
    sight.head = {client_from(head.bytes(0)), static_cast<std::uint64_t>(head.integer(1))};
  }
  return sight;
}

SqliteStore::Sight SqliteStore::look_at_shares(const LockName& name, TimePoint now) {
  Sight sight;
  const Transaction moment(*db_, Transaction::Purpose::reading);
  const LockEntry lock = LockRows(*db_, name).entry;
  const auto is_over = [&](const auto& claim) {
    return rules::lapsed(claim.until, now) || proof_of_death(claim.owner.client);
  };
  sight.may_ask = lock.holds.empty() ||
                  std::any_of(lock.holds.begin(), lock.holds.end(), is_over) ||
                  (!lock.line.empty() && is_over(lock.line.front()));
  sight.left = kForever;
  for (const rules::HeldClaim& hold : lock.holds) {
    if (!hold.offered) continue;
    sight.offers[hold.owner] = {hold.fence, hold.spare, hold.slots};
    sight.left = std::min(sight.left, left_until(hold.until, now));
  }
  if (!lock.line.empty()) sight.head = lock.line.front().owner;
  if (lock.kind == Kind::semaphore) {  // a smaller size sends away who wants more than that
    sight.there.emplace();
    for (const rules::HeldClaim& hold : lock.holds) sight.there->insert(hold.owner);
    for (const rules::WaitingClaim& waiter : lock.line) sight.there->insert(waiter.owner);
  }
  return sight;
}

std::optional<Wake> SqliteStore::Sight::wake_for(const OwnerId& claim) const {
  Wake wake;
  const auto own = offers.find(claim);
  if (own != offers.end()) {
    wake.offer = own->second;
  } else if (there && there->count(claim) == 0) {
    return wake;
  } else if (!may_ask && !offers.empty() && head == claim) {
    wake.look_after = left;
  } else if (!may_ask) {
    return std::nullopt;
  }
  return wake;
}

// ---- cells ----

void SqliteStore::CellVerbs::read(const CellKey& key, Call<CellReply> call) {
  store_.ask(std::move(call), key, [](SqliteStore& self, const CellKey& it, Wakes&) {
    self.need_file(self.db_->moved_lately(self.asked_at_));
    return read_cell(*self.db_, it);
  });
}

void SqliteStore::CellVerbs::write(const CellWrite& request, Call<CellReply> call) {
  store_.ask(std::move(call), request, [](SqliteStore& self, const CellWrite& it, Wakes& wakes) {
    self.need_file(self.db_->moved_lately(self.asked_at_));
    return self.told(it.key, write_cell(*self.db_, it, self.clock_), wakes);
  });
}

void SqliteStore::CellVerbs::add(const CellAdd& request, Call<CellReply> call) {
  store_.ask(std::move(call), request, [](SqliteStore& self, const CellAdd& it, Wakes& wakes) {
    self.need_file(self.db_->moved_lately(self.asked_at_));
    return self.told(it.key, add_to_cell(*self.db_, it, self.clock_), wakes);
  });
}

WatchPtr SqliteStore::CellVerbs::watch(const CellKey& key, CellChangedFn changed) {
  WatchPtr watch = store_.cell_watches_.add(key, std::move(changed));
  if (store_.worker_) store_.worker_->listen(kLookEvery);
  return watch;
}

CellReply SqliteStore::told(const CellKey& key, CellChange change, Wakes& wakes) {
  if (key.kind == CellKind::size) resized(key.name, wakes);
  if (worker_ && !cell_watches_.empty()) worker_->post([this] { look_at_cells(); });
  for (const ClientId& client : change.waiters) {
    if (client != client_) wakes.push_back({{client, 0}, {}});
  }
  return std::move(change.reply);
}

// For whom there is room now. What was written stays, whatever happens here: then those who wait find
// out when they ask again.
void SqliteStore::resized(const LockName& name, Wakes& wakes) {
  try {
    with_lock(name, wakes, [](LockEntry& lock, const Moment& at) {
      lock.settle(at);
      return 0;
    });
  } catch (const Failure&) {
    wakes.clear();
  } catch (const std::bad_alloc&) {
    wakes.clear();
  }
}

void SqliteStore::look_at_cells() {
  std::vector<transport::CellWatchList::Function> told;
  {
    const std::vector<CellKey> keys = cell_watches_.keys();
    const std::lock_guard lock(mutex_);
    if (closed_ || (keys.empty() && !cell_waiters_.any())) return;
    db_->give_up_at(later(clock_.now(), kLookEvery));
    try {
      if (!keys.empty()) need_session();  // its futex is what wakes us
      cell_waiters_.keep(*db_, keys, clock_.now());
    } catch (const Failure&) {  // nobody will wake us: we look all the same
    }
    try {
      for (const CellKey& key : keys) {
        for (auto& each : cell_watches_.seen(key, version_of_cell(*db_, key))) {
          told.push_back(std::move(each));
        }
      }
    } catch (const Failure&) {  // it looks again soon; what is really wrong the verbs will tell
    }
  }
  for (const auto& changed : told) (*changed)();
}

// ---- for people ----

void SqliteStore::inspect(std::string_view pattern, Call<InspectReply> call) {
  ask(std::move(call), std::string(pattern),
      [](SqliteStore& self, const std::string& it, Wakes&) { return self.do_inspect(it); });
}

InspectReply SqliteStore::do_inspect(const std::string& pattern) {
  need_file(db_->moved());
  std::vector<LockView> found;
  const Transaction moment(*db_, Transaction::Purpose::reading);
  std::vector<std::string> names;
  {
    Statement row = db_->prepare(kNamesInUse);
    while (row.step()) names.push_back(row.bytes(0));
  }
  const TimePoint now = clock_.now();
  for (const std::string& bytes : names) {
    if (!rules::glob_matches(pattern, bytes)) continue;
    const auto name = LockName::checked(bytes);
    if (!name) throw Failure(Errc::store_corrupt, "a lock has an impossible name");
    LockRows rows(*db_, *name);
    Proofs proofs;
    pass_over_the_dead(rows.entry, now, proofs);
    LockView seen = rows.entry.view(*name, now);
    if (!seen.holds.empty() || !seen.line.empty()) found.push_back(std::move(seen));
  }
  return found;
}

std::string SqliteStore::place_of(Kind, const LockName& name) const {
  return place_.database + ", table lock, name " + printable(name.bytes());
}

void SqliteStore::examine(Call<ExamineReply> call) {
  ask(std::move(call), 0,
      [](SqliteStore& self, int, Wakes&) -> ExamineReply { return self.do_examine(); });
}

std::vector<Finding> SqliteStore::do_examine() {
  need_file(db_->moved());
  std::vector<Finding> findings = findings_about(place_, *db_);
  findings.push_back({Finding::Level::fact, "clients",
                      std::to_string(db_->number("SELECT count(*) FROM session")) +
                          " with a session that has not been seen to end"});
  return findings;
}

// ---- the end ----

void SqliteStore::close() {
  if (worker_) worker_->stop();
  const std::lock_guard lock(mutex_);
  if (closed_.exchange(true)) return;
  end_session();
  db_.reset();
}

// A session with claims left stays as it is: unlocked, it is taken for what it is, and whoever comes
// by takes over at once.
void SqliteStore::end_session() {
  if (!session_) return;
  try {
    db_->give_up_at(later(clock_.now(), std::chrono::seconds(1)));
    if (!db_->moved()) {
      cell_waiters_.keep(*db_, {}, clock_.now());
      db_->prepare(kEndSession).bind_blob(client_bytes_).run();
      if (db_->changes() == 1) sessions_.remove(client_);
    } else {
      sessions_.remove(client_);
    }
  } catch (const Failure&) {
  }
  session_.reset();
}

}  // namespace holdfast::store::sqlite

// ---- connect() ----

namespace holdfast::store {
namespace {

constexpr std::array<std::string_view, 2> kSchemes{"embedded", "sqlite"};

Result<std::unique_ptr<Store>> open(const Url& url, const Surroundings& around) {
  try {
    return std::unique_ptr<Store>(std::make_unique<sqlite::SqliteStore>(sqlite::SqliteStore::Parts{
        sqlite::find_place(url), sqlite::this_machine(), around.clock, around.client}));
  } catch (const sqlite::Failure& failure) {
    const NoAnswer& none = failure.no_answer();
    return Error(none.why, std::string(name_of(none.why)) + ": " + none.text);
  }
}

}  // namespace

constinit const StoreFactory k_sqlite_factory{kSchemes, &open};

}  // namespace holdfast::store
