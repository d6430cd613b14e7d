#include "store/sqlite/lock_rows.hpp"

#include <algorithm>
#include <cstring>

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

OwnerId owner_from(const Statement& row) {
  return {client_from(row.bytes(0)), static_cast<std::uint64_t>(row.integer(1))};
}

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t unsigned_of(std::int64_t number) { return static_cast<std::uint64_t>(number); }

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
  load_held();
  load_line();
  before_ = entry;
}

void LockRows::load_held() {
  Statement row = db_.prepare(kLoadLock);
  row.bind_blob(name_);
  stored_ = row.step();
  if (!stored_) {
    fences = rules::FenceCounter(unsigned_of(db_.number(kFloor)));
    return;
  }
  const std::uint64_t fence = unsigned_of(row.integer(2)), spare = unsigned_of(row.integer(3));
  fences = rules::FenceCounter(fence + spare);
  if (row.null(0)) return;
  rules::HeldClaim& held = entry.held.emplace();
  held.owner = owner_from(row);
  held.fence = fence;
  held.spare = spare;
  held.until = from_ns(row.integer(4));
  held.offered = row.integer(5) != 0;
  held.revoked = row.integer(6) != 0;
  held.record = record_from(row, 7, held.owner);
}

void LockRows::load_line() {
  Statement row = db_.prepare(kLoadLine);
  row.bind_blob(name_);
  while (row.step()) {
    rules::WaitingClaim& waiting = entry.line.emplace_back();
    waiting.owner = owner_from(row);
    waiting.spare = unsigned_of(row.integer(2));
    waiting.confirm_within = Duration(row.integer(3));
    waiting.until = from_ns(row.integer(4));
    waiting.record = record_from(row, 5, waiting.owner);
    places_[waiting.owner] = row.integer(10);
  }
}

void LockRows::save() {
  if (entry.held != before_.held) save_held();
  if (entry.line != before_.line) save_line();
}

void LockRows::save_held() {
  if (!entry.held) {
    db_.prepare(kSaveFree).bind_blob(name_).run();
    return;
  }
  const rules::HeldClaim& held = *entry.held;
  const std::string client = bytes_of(held.owner.client);
  Statement row = db_.prepare(kSaveHeld);
  row.bind_blob(name_)
      .bind_blob(client)
      .bind(signed_of(held.owner.claim))
      .bind(signed_of(held.fence))
      .bind(signed_of(held.spare))
      .bind(ns(held.until))
      .bind(held.offered ? 1 : 0)
      .bind(held.revoked ? 1 : 0);
  bind_record(row, held.record);
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
  Statement row = db_.prepare(kSaveWaiting);
  row.bind_blob(name_)
      .bind(place)
      .bind_blob(client)
      .bind(signed_of(waiting.owner.claim))
      .bind(signed_of(waiting.spare))
      .bind(waiting.confirm_within.count())
      .bind(ns(waiting.until));
  bind_record(row, waiting.record);
  row.run();
}

}  // namespace holdfast::store::sqlite
