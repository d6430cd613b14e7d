// The embedded store: locks between the processes of one machine, in an SQLite file. Nothing to
// install, nothing to start.
//
//   embedded:            a file under this user's state folder
//   sqlite:/path/to.db   that file
//
// Layout, rights and options: place.hpp; tables: statements.hpp; life and death: session_folder.hpp.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "holdfast/store/cells.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/factory.hpp"
#include "holdfast/store/store.hpp"
#include "rules/lock_entry.hpp"
#include "store/sqlite/cell_rows.hpp"
#include "store/sqlite/cell_waiters.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/machine.hpp"
#include "store/sqlite/place.hpp"
#include "store/sqlite/session_folder.hpp"
#include "transport/cell_watch_list.hpp"
#include "transport/watch_list.hpp"
#include "transport/worker.hpp"

namespace holdfast::store::sqlite {

// One client's view of the file.
//
// The common cases are one statement each; whatever concerns a line, a dead holder or a forced
// release reads the lock as a whole, applies rules::LockEntry and writes it back in one transaction.
//
// Blocking     Verbs write a file. They run on a caller that waits anyway (Call::may_block), else on
//              a worker thread, which also listens for wakes and looks after dead holders.
// Threads      All verbs from any thread.
class SqliteStore final : public Store {
 public:
  struct Parts {
    Place place;
    Machine machine;
    const Clock& clock;
    ClientId client;
    bool has_worker =
        true;  // false: everything is done where it is asked for (tests that turn the clock)
  };
  // Throws Failure.
  explicit SqliteStore(Parts);
  ~SqliteStore() override;

  Capabilities capabilities() const override;
  void try_grant(const GrantRequest&, Call<GrantReply>) override;
  void renew(std::span<const Renewal>, Call<RenewReply>) override;
  void release(const HoldKey&, Call<ReleaseReply>) override;
  void withdraw(const ClaimKey&, Call<WithdrawReply>) override;
  WatchPtr watch(const ClaimKey&, WakeFn) override;
  void inspect(std::string_view pattern, Call<InspectReply>) override;
  void force_release(const ForceRequest&, Call<ForceReply>) override;
  Cells* cells() override { return &cells_; }
  std::string place_of(Kind, const LockName&) const override;
  void examine(Call<ExamineReply>) override;
  int lifeline() override;
  void close() override;

  // Looks at every watched claim, and delivers what it finds. The worker does so by itself.
  void look_at_claims();
  // The same for watched cells.
  void look_at_cells();

 private:
  class CellVerbs final : public Cells {
   public:
    explicit CellVerbs(SqliteStore& store) : store_(store) {}
    void read(const CellKey&, Call<CellReply>) override;
    void write(const CellWrite&, Call<CellReply>) override;
    void add(const CellAdd&, Call<CellReply>) override;
    WatchPtr watch(const CellKey&, CellChangedFn) override;

   private:
    SqliteStore& store_;
  };

  using Wakes = std::vector<rules::Told>;

  // Answers with verb(arguments, wakes), here or on the worker.
  template <class Reply, class Arguments, class Verb>
  void ask(Call<Reply>, const Arguments&, Verb);
  template <class Reply, class Arguments, class Verb>
  void perform(Call<Reply>, const Arguments&, Verb);
  template <class Reply, class Arguments, class Verb>
  Reply attempt(TimePoint deadline, const Arguments&, Verb, Wakes&);
  bool find_room();
  void deliver(const Wakes&);

  // The verbs, under mutex_.
  GrantReply do_grant(const GrantRequest&, Wakes&);
  RenewReply do_renew(const std::vector<Renewal>&, Wakes&);
  ReleaseReply do_release(const HoldKey&, Wakes&);
  InspectReply do_inspect(const std::string& pattern);
  std::vector<Finding> do_examine();

  // What those who wait for a lock can see of it.
  struct Sight {
    bool may_ask = true;  // free, or one of its holders lapsed or died
    std::map<OwnerId, Wake::Offer> offers{};
    Duration left{};                           // until the first of them lapses
    std::optional<OwnerId> head{};             // of the line
    std::optional<std::set<OwnerId>> there{};  // who holds it or waits, if others were sent away
    std::optional<Wake> wake_for(const OwnerId&) const;
  };
  Sight look_at(const LockName&);
  Sight look_at_shares(const LockName&, TimePoint now);
  // The reply; who waits for the cell looks at once, here and in other processes.
  CellReply told(const CellKey&, CellChange, Wakes&);
  void resized(const LockName&, Wakes&);

  // verb(entry, moment) on the whole lock, in a transaction.
  template <class Verb>
  auto with_lock(const LockName&, Wakes&, Verb, Kind asked = Kind::mutex);
  using Proofs = std::map<ClientId, transport::Fd>;
  void pass_over_the_dead(rules::LockEntry&, TimePoint now, Proofs&);
  transport::Fd proof_of_death(const ClientId&);

  void need_file(bool moved) const;
  void need_session();
  void bury_the_dead(Wakes&);
  void bury(const ClientId&, Wakes&);
  void drop_free_rows();
  void end_session();

  const Clock& clock_;
  const ClientId client_;
  const std::string client_bytes_;
  Place place_;
  SessionFolder sessions_;
  transport::WatchList watches_;
  transport::CellWatchList cell_watches_;
  CellVerbs cells_{*this};
  std::atomic<bool> closed_ = false;  // set under mutex_

  std::mutex mutex_;  // guards what is below
  std::unique_ptr<Database> db_;
  TimePoint asked_at_{};  // when the verb under way began
  std::unique_ptr<OwnSession> session_;
  CellWaiters cell_waiters_{client_bytes_};

  std::unique_ptr<transport::Worker> worker_;  // last: it uses everything above
};

}  // namespace holdfast::store::sqlite

namespace holdfast::store {
extern const StoreFactory k_sqlite_factory;
}
