// A store whose link to its server a test can break, and which counts what is asked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "holdfast/store/cells.hpp"
#include "holdfast/task.hpp"
#include "support/forwarding_store.hpp"

namespace holdfast::test {

// What becomes of a question:
//
//            executed       answer                              wakes
//   up       at once        the server's                        pass
//   down     never          no_answer, executed = false         lost
//   deaf     at once        no_answer: the reply was lost       lost
//   paused   at let_go()    the server's, then                  pass
//   late     at once        the server's, kept until let_go()   pass
enum class Link : std::uint8_t { up, down, deaf, paused, late };

// Questions asked, whatever the link made of them.
struct VerbCounts {
  std::uint64_t try_grant = 0;
  std::uint64_t renew = 0;  // batches
  std::uint64_t release = 0;
  std::uint64_t withdraw = 0;
  std::uint64_t watch = 0;
  std::uint64_t inspect = 0;
  std::uint64_t force_release = 0;
  std::uint64_t cells = 0;  // of all verbs of cells; not in all(), which is about locks

  std::uint64_t all() const {
    return try_grant + renew + release + withdraw + watch + inspect + force_release;
  }
};

// Threads      From any thread. Neither answers nor wakes run under its mutex.
// Lifetime     close() answers what was kept back with no_answer.
class SwitchableStore final : public ForwardingStore {
 public:
  explicit SwitchableStore(std::unique_ptr<store::Store> inner)
      : ForwardingStore(std::move(inner)) {}

  // Does not touch what is kept back.
  void set(Link);
  // Lets the oldest that is kept back go, or all; says how many those were.
  std::size_t let_one_go();
  std::size_t let_go();
  std::size_t kept() const;

  VerbCounts counts() const;
  std::uint64_t renewals(const store::HoldKey&) const;
  // Of try_grant, for this lock: those that have returned, so that an answer which came at once was
  // heard.
  std::uint64_t asked(const store::LockName&) const;

  void try_grant(const store::GrantRequest&, store::Call<store::GrantReply>) override;
  void renew(std::span<const store::Renewal>, store::Call<store::RenewReply>) override;
  void release(const store::HoldKey&, store::Call<store::ReleaseReply>) override;
  void withdraw(const store::ClaimKey&, store::Call<store::WithdrawReply>) override;
  store::WatchPtr watch(const store::ClaimKey&, store::WakeFn) override;
  void inspect(std::string_view pattern, store::Call<store::InspectReply>) override;
  void force_release(const store::ForceRequest&, store::Call<store::ForceReply>) override;
  store::Cells* cells() override { return inner().cells() != nullptr ? &cells_ : nullptr; }
  void close() override;

 private:
  class SwitchableCells final : public store::Cells {
   public:
    explicit SwitchableCells(SwitchableStore& store) : store_(store) {}
    void read(const store::CellKey&, store::Call<store::CellReply>) override;
    void write(const store::CellWrite&, store::Call<store::CellReply>) override;
    void add(const store::CellAdd&, store::Call<store::CellReply>) override;
    store::WatchPtr watch(const store::CellKey&, store::CellChangedFn) override;

   private:
    SwitchableStore& store_;
  };

  // Shared with the wake functions and late answers, which may outlive the store.
  struct State {
    std::mutex mutex;
    Link link = Link::up;
    std::deque<Task> kept;
    VerbCounts counts;
    std::map<store::HoldKey, std::uint64_t> renewals;
    std::map<store::LockName, std::uint64_t> asked;
  };

  Link count(std::uint64_t VerbCounts::*verb);
  // verb(call) asks the inner store; it owns a copy of its arguments.
  template <class Reply, class Verb>
  void pass(Link, store::Call<Reply>, Verb);

  std::shared_ptr<State> state_ = std::make_shared<State>();
  SwitchableCells cells_{*this};
};

}  // namespace holdfast::test
