#include "store/sqlite/lock_rows.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sstream>

#include "holdfast/fence.hpp"
#include "holdfast/options.hpp"
#include "store/sqlite/statements.hpp"

namespace holdfast::store::sqlite {
namespace {

// Reads host, pid, program, since and reason from the column on.
HolderRecord record_from(const Statement& row, int column, const OwnerId& owner) {
  HolderRecord record;
  record.owner = to_string(owner);
  record.host = row.bytes(column);
  record.pid = row.integer(column + 1);
  record.program = row.bytes(column + 2);
  record.since = WallTime(std::chrono::microseconds(row.integer(column + 3)));
  record.reason = row.bytes(column + 4);
  return record;
}

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t unsigned_of(std::int64_t number) { return static_cast<std::uint64_t>(number); }

OwnerId owner_from(const Statement& row, int column) {
  return {client_from(row.bytes(column)), unsigned_of(row.integer(column + 1))};
}

Kind kind_from(std::int64_t number) {
  if (number < 0 || number > static_cast<std::int64_t>(Kind::semaphore)) {
    throw Failure(Errc::store_corrupt, "a lock is of an unknown kind");
  }
  return static_cast<Kind>(number);
}

// A reader in the line of a mutex would be served beside its holder.
bool fits(Kind kind, Shape::Form form) {
  if (kind == Kind::mutex) return form == Shape::Form::exclusive;
  return (kind == Kind::semaphore) == (form == Shape::Form::permits);
}

// Reads form, take and of from the column on.
Shape shape_from(const Statement& row, int column, Kind kind) {
  const std::int64_t form = row.integer(column);
  const std::int64_t take = row.integer(column + 1);
  const std::int64_t of = row.integer(column + 2);
  const bool counts = take >= 1 && take <= kMaxPermits && of >= 1 && of <= kMaxPermits;
  if (form < 0 || form > static_cast<std::int64_t>(Shape::Form::permits) || !counts) {
    throw Failure(Errc::store_corrupt, "a claim has an unknown shape");
  }
  const Shape shape{.form = static_cast<Shape::Form>(form),
                    .take = static_cast<std::uint32_t>(take),
                    .of = static_cast<std::uint32_t>(of)};
  if (!fits(kind, shape.form)) {
    throw Failure(Errc::store_corrupt, "a claim has a shape of another kind of lock");
  }
  return shape;
}

void bind_shape(Statement& statement, const Shape& shape) {
  statement.bind(static_cast<std::int64_t>(shape.form)).bind(shape.take).bind(shape.of);
}

// Reads client, claim and fence from the column on.
std::optional<rules::Replaced> replaced_from(const Statement& row, int column) {
  if (row.null(column)) return std::nullopt;
  return rules::Replaced{owner_from(row, column), unsigned_of(row.integer(column + 2))};
}

// `client` are the bytes of its client, and must outlive the statement.
void bind_replaced(Statement& statement, const std::optional<rules::Replaced>& replaced,
                   const std::string& client) {
  if (!replaced) {
    statement.bind_null().bind_null().bind_null();
    return;
  }
  statement.bind_blob(client)
      .bind(signed_of(replaced->owner.claim))
      .bind(signed_of(replaced->fence));
}

// "0 3 4"
std::string text_of(const std::vector<std::uint32_t>& slots) {
  std::string text;
  for (const std::uint32_t slot : slots) {
    text += (text.empty() ? "" : " ") + std::to_string(slot);
  }
  return text;
}

std::vector<std::uint32_t> slots_from(const std::string& text) {
  std::istringstream numbers(text);
  return {std::istream_iterator<std::uint32_t>(numbers), {}};
}

// Reads fence and spare from the column on: the newest fence that they reserve.
std::uint64_t last_fence(const Statement& row, int column) {
  const std::int64_t fence = row.integer(column), spare = row.integer(column + 1);
  if (fence < 0 || spare < 0 || spare > static_cast<std::int64_t>(kMaxFence) - fence) {
    throw Failure(Errc::store_corrupt, "a lock has fences that cannot be");
  }
  return unsigned_of(fence) + unsigned_of(spare);
}

// The columns that a mutex's hold and a share have in common.
rules::HeldClaim hold_from(const Statement& row) {
  rules::HeldClaim held;
  held.owner = owner_from(row, 0);
  last_fence(row, 2);  // checks
  if (row.integer(2) == 0) throw Failure(Errc::store_corrupt, "a hold has no fence");
  held.fence = unsigned_of(row.integer(2));
  held.spare = unsigned_of(row.integer(3));
  held.until = from_ns(row.integer(4));
  held.offered = row.integer(5) != 0;
  held.revoked = row.integer(6) != 0;
  held.record = record_from(row, 7, held.owner);
  return held;
}

// `client` are the bytes of its client, and must outlive the statement.
void bind_hold(Statement& statement, const rules::HeldClaim& held, const std::string& client) {
  statement.bind_blob(client)
      .bind(signed_of(held.owner.claim))
      .bind(signed_of(held.fence))
      .bind(signed_of(held.spare))
      .bind(ns(held.until))
      .bind(held.offered ? 1 : 0)
      .bind(held.revoked ? 1 : 0);
  bind_record(statement, held.record);
}

bool is_among(const std::vector<rules::HeldClaim>& holds, const OwnerId& owner) {
  return std::any_of(holds.begin(), holds.end(),
                     [&](const rules::HeldClaim& each) { return each.owner == owner; });
}

}  // namespace

std::string bytes_of(const ClientId& client) {
  std::string bytes(16, '\0');
  std::memcpy(bytes.data(), &client.high, 8);
  std::memcpy(bytes.data() + 8, &client.low, 8);
  return bytes;
}

ClientId client_from(const std::string& bytes) {
  ClientId client;
  if (bytes.size() != 16) throw Failure(Errc::store_corrupt, "a client's id has a wrong length");
  std::memcpy(&client.high, bytes.data(), 8);
  std::memcpy(&client.low, bytes.data() + 8, 8);
  return client;
}

void bind_record(Statement& statement, const HolderRecord& record) {
  statement.bind_text(record.host)
      .bind(record.pid)
      .bind_text(record.program)
      .bind(record.since.time_since_epoch().count())
      .bind_text(record.reason);
}

LockRows::LockRows(Database& db, const LockName& name) : db_(db), name_(name.bytes()) {
  load_holds();
  load_line();
  before_ = entry;
}

void LockRows::load_holds() {
  Statement row = db_.prepare(kLoadLock);
  row.bind_blob(name_);
  stored_ = row.step();
  if (!stored_) {
    fences = rules::FenceCounter(unsigned_of(db_.number(kFloor)));
    return;
  }
  fences = rules::FenceCounter(last_fence(row, 2));
  entry.kind = kind_from(row.integer(12));
  if (entry.kind != Kind::mutex) return load_shares();
  if (!row.null(0)) entry.holds.push_back(hold_from(row));
}

void LockRows::load_shares() {
  Statement row = db_.prepare(kLoadShares);
  row.bind_blob(name_);
  while (row.step()) {
    rules::HeldClaim& share = entry.holds.emplace_back(hold_from(row));
    share.shape = shape_from(row, 12, entry.kind);
    share.slots = slots_from(row.bytes(15));
    share.replaces = replaced_from(row, 16);
  }
}

void LockRows::load_line() {
  Statement row = db_.prepare(kLoadLine);
  row.bind_blob(name_);
  while (row.step()) {
    rules::WaitingClaim& waiting = entry.line.emplace_back();
    waiting.owner = owner_from(row, 0);
    waiting.spare = unsigned_of(row.integer(2));
    waiting.confirm_within = Duration(row.integer(3));
    waiting.until = from_ns(row.integer(4));
    waiting.record = record_from(row, 5, waiting.owner);
    waiting.shape = shape_from(row, 11, entry.kind);
    waiting.replaces = replaced_from(row, 14);
    if (waiting.replaces && entry.kind == Kind::mutex) {  // it would be served beside that hold
      throw Failure(Errc::store_corrupt, "a mutex is waited for in exchange for something");
    }
    places_[waiting.owner] = row.integer(10);
  }
}

void LockRows::save() {
  if (entry == before_) return;
  const bool shared = entry.kind != Kind::mutex || before_.kind != Kind::mutex;
  if (shared) {
    save_shares();
  } else if (entry.holds != before_.holds) {
    save_mutex();
  }
  if (entry.line != before_.line) save_line();
}

void LockRows::save_mutex() {
  if (entry.holds.empty()) {
    db_.prepare(kSaveFree).bind_blob(name_).run();
    return;
  }
  const rules::HeldClaim& held = entry.holds.front();
  const std::string client = bytes_of(held.owner.client);
  Statement row = db_.prepare(kSaveHeld);
  row.bind_blob(name_);
  bind_hold(row, held, client);
  row.run();
}

// Kinds change only while nobody holds the lock and nobody waits for it.
void LockRows::save_shares() {
  for (const rules::HeldClaim& old : before_.holds) {
    if (before_.kind == Kind::mutex || is_among(entry.holds, old.owner)) continue;
    const std::string client = bytes_of(old.owner.client);
    db_.prepare(kEndShare)
        .bind_blob(name_)
        .bind_blob(client)
        .bind(signed_of(old.owner.claim))
        .run();
  }
  if (entry.idle()) {
    db_.prepare(kSaveFree).bind_blob(name_).run();
    return;
  }
  if (entry.kind == Kind::mutex) return save_mutex();
  db_.prepare(kSaveShared)
      .bind_blob(name_)
      .bind(static_cast<std::int64_t>(entry.kind))
      .bind(signed_of(fences.last()))
      .bind(ns(kNever))
      .run();
  for (const rules::HeldClaim& share : entry.holds) {
    const auto& old = before_.holds;
    if (std::find(old.begin(), old.end(), share) == old.end()) save_share(share);
  }
}

void LockRows::save_share(const rules::HeldClaim& share) {
  const std::string client = bytes_of(share.owner.client);
  const std::string slots = text_of(share.slots);
  const std::string old_client = share.replaces ? bytes_of(share.replaces->owner.client) : "";
  Statement row = db_.prepare(kSaveShare);
  row.bind_blob(name_);
  bind_hold(row, share, client);
  bind_shape(row, share.shape);
  row.bind_text(slots);
  bind_replaced(row, share.replaces, old_client);
  row.run();
}

// A claim keeps its place as long as it stands behind those before it; else it gets one at the end.
void LockRows::save_line() {
  std::int64_t last = 0, previous = 0;
  for (const auto& [owner, place] : places_) last = std::max(last, place);
  std::map<OwnerId, std::int64_t> left = places_;  // rows that nobody needs any more
  for (const rules::WaitingClaim& waiting : entry.line) {
    const auto known = places_.find(waiting.owner);
    const bool keeps = known != places_.end() && known->second > previous;
    previous = keeps ? known->second : ++last;
    if (keeps) left.erase(waiting.owner);
    if (!keeps || !was_in_line(waiting)) save_waiting(waiting, previous);
  }
  for (const auto& [owner, place] : left) {
    db_.prepare(kLeaveLine).bind_blob(name_).bind(place).run();
  }
}

bool LockRows::was_in_line(const rules::WaitingClaim& waiting) const {
  return std::find(before_.line.begin(), before_.line.end(), waiting) != before_.line.end();
}

void LockRows::save_waiting(const rules::WaitingClaim& waiting, std::int64_t place) {
  const std::string client = bytes_of(waiting.owner.client);
  const std::string old_client = waiting.replaces ? bytes_of(waiting.replaces->owner.client) : "";
  Statement row = db_.prepare(kSaveWaiting);
  row.bind_blob(name_)
      .bind(place)
      .bind_blob(client)
      .bind(signed_of(waiting.owner.claim))
      .bind(signed_of(waiting.spare))
      .bind(waiting.confirm_within.count())
      .bind(ns(waiting.until));
  bind_record(row, waiting.record);
  bind_shape(row, waiting.shape);
  bind_replaced(row, waiting.replaces, old_client);
  row.run();
}

}  // namespace holdfast::store::sqlite
