#include "store/sqlite/set_up.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "store/sqlite/cell_statements.hpp"
#include "store/sqlite/lock_rows.hpp"
#include "store/sqlite/os_failure.hpp"
#include "store/sqlite/statements.hpp"

namespace holdfast::store::sqlite {
namespace {

constexpr std::chrono::seconds kPatience{5};

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

void remove_logs(const std::string& path) {
  for (const char* end : {"-wal", "-shm", "-journal"}) ::unlink((path + end).c_str());
}

void remove_database(const std::string& path) {
  ::unlink(path.c_str());
  remove_logs(path);
}

void write_machine(Database& db, const char* sql, const Machine& machine) {
  db.prepare(sql)
      .bind_text(machine.id)
      .bind_text(machine.boot)
      .bind_text(machine.time_namespace)
      .run();
}

// Made under another name and then given its own in one step, so that a file under the right name is
// always whole: an empty one there is damage, not a beginning.
void make_database(const Place& place, const Machine& machine, const Clock& clock) {
  const std::string draft = place.folder + "/new.db";
  remove_database(draft);  // of somebody who died here
  {
    const transport::Fd file(
        ::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) fail_by_errno("cannot create a file in " + place.folder);
    ::fchmod(file.get(), static_cast<mode_t>(place.mode));
  }
  try {
    Database db(draft, Database::Mode::existing, clock);
    db.execute(kSchema);
    db.execute(kShares);
    db.execute(kCellSchema);
    write_machine(db, "INSERT INTO meta VALUES(1, ?1, ?2, ?3, 1 << 40)", machine);
  } catch (...) {
    remove_database(draft);
    throw;
  }
  remove_logs(place.database);  // of a file that somebody removed: SQLite would play them back
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, place.database.c_str(), RENAME_NOREPLACE) !=
      0) {
    const int error = errno;
    remove_database(draft);
    errno = error;
    if (error != EEXIST) fail_by_errno("cannot create " + place.database);
  }
}

// Whether a session is locked: its process is there. None survives a boot.
bool somebody_lives(Database& db, const SessionFolder& sessions) {
  Statement row = db.prepare(kAllSessions);
  while (row.step()) {
    const ClientId client = client_from(row.bytes(0));
    const FileId file{row.integer(1), row.integer(2)};
    if (sessions.has(client, file) && !sessions.proof_of_death(client, file)) return true;
  }
  return false;
}

// While nobody uses it: programs of that version would not see what is new.
void upgrade(Database& db, const SessionFolder& sessions) {
  Transaction transaction(db);
  if (db.number("PRAGMA user_version") != 1 || somebody_lives(db, sessions)) return;
  db.execute(kShares);
  db.execute(kUpgradeFrom1);
  transaction.commit();
}

void check_schema(Database& db, const SessionFolder& sessions, const std::string& path) {
  if (db.number("PRAGMA application_id") != kApplicationId) {
    throw Failure(Errc::store_corrupt, path + " is not a store of Holdfast's, or it is damaged");
  }
  if (db.number("PRAGMA user_version") == 1) upgrade(db, sessions);
  const auto version = db.number("PRAGMA user_version");
  if (version != kSchemaVersion) {
    throw Failure(Errc::protocol, path + " has the layout of version " + std::to_string(version) +
                                      ", this program knows version " +
                                      std::to_string(kSchemaVersion) +
                                      "; use programs of one version on one file");
  }
}

Machine machine_of(Database& db) {
  Statement row = db.prepare("SELECT machine, boot, time_namespace FROM meta");
  if (!row.step()) throw Failure(Errc::store_corrupt, "the store has lost its first row");
  return {row.bytes(0), row.bytes(1), row.bytes(2)};
}

// BOOTTIME means something only within one boot of one machine, seen from one time namespace.
void check_clock(Database& db, const std::string& path, const SessionFolder& sessions,
                 const Machine& here) {
  const Machine there = machine_of(db);
  if (there == here) return;
  if (there.id != here.id) {
    throw Failure(Errc::unsupported, path +
                                         " was made on another machine, whose clock counts its "
                                         "leases; give each machine a file of its own");
  }
  if (there.boot == here.boot) {
    throw Failure(Errc::unsupported,
                  path +
                      " is used in another time namespace, where the clock that "
                      "counts its leases stands elsewhere; give it a file of its own");
  }
  // A new boot of this machine: nobody who held something lives, but the last fences may not have
  // reached the disk. Hence a new epoch, above all of them, and this commit does reach it.
  db.execute("PRAGMA synchronous = FULL");
  Transaction transaction(db);
  if (machine_of(db) != here) {
    if (somebody_lives(db, sessions)) {
      throw Failure(Errc::unsupported, path +
                                           " is in use by a process that sees another boot of "
                                           "this machine; give it a file of its own");
    }
    write_machine(db, kNewBoot, here);
    db.execute(kForgetAll);
    db.execute(kForgetCellClients);
  }
  transaction.commit();
}

// Who owns the folder can do with the sessions, and with a database that is being made, as they like.
void refuse_strangers_folder(const Place& place, uid_t owner_of_database) {
  struct stat folder {};
  if (::lstat(place.folder.c_str(), &folder) != 0) fail_by_errno("cannot look at " + place.folder);
  const bool known =
      folder.st_uid == ::geteuid() || folder.st_uid == 0 || folder.st_uid == owner_of_database;
  const bool open_to_all = (folder.st_mode & 0002U) != 0 && (place.mode & 0002U) == 0;
  if (S_ISDIR(folder.st_mode) && known && !open_to_all) return;
  throw Failure(Errc::permission,
                place.folder + " is not a folder of the store's owner alone; remove it");
}

}  // namespace

SessionFolder set_up_sessions(Place& place) {
  struct stat status {};
  if (::lstat(place.database.c_str(), &status) == 0) place.mode = status.st_mode & 0666U;
  // Whoever may write a file there may look it up as well.
  const unsigned mode = place.mode | (place.mode & 0444U) >> 2;
  if (::mkdir(place.folder.c_str(), 0700) == 0) {
    ::chmod(place.folder.c_str(), static_cast<mode_t>(mode));
  } else if (errno != EEXIST) {
    fail_by_errno("cannot make the folder " + place.folder);
  } else {
    refuse_strangers_folder(place, status.st_nlink != 0 ? status.st_uid : ::geteuid());
  }
  return SessionFolder(place.folder, place.mode);
}

std::unique_ptr<Database> set_up(const Place& place, const SessionFolder& sessions,
                                 const Machine& machine, const Clock& clock) {
  const transport::Fd alone = sessions.lock_for_set_up();
  if (!exists(place.database)) make_database(place, machine, clock);
  auto db = std::make_unique<Database>(place.database, Database::Mode::existing, clock);
  db->give_up_at(later(clock.now(), kPatience));
  if (db->read_only()) {
    throw Failure(Errc::permission, place.database + " cannot be written by this user");
  }
  check_schema(*db, sessions, place.database);
  db->execute(kCellSchema);  // a file that was made before there were cells
  check_clock(*db, place.database, sessions, machine);
  db->execute("PRAGMA synchronous = NORMAL");
  db->know_logs();
  db->keep_room();  // if there is none, whoever needs some is told
  return db;
}

}  // namespace holdfast::store::sqlite
