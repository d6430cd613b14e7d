// The directory store: locks between all processes, on any machine, that see one folder.
//
//   dir:/shared/folder
//
// Files and how a lock changes hands: lock_folder.hpp; who is dead: stopwatches.hpp; names:
// folder_name.hpp; options: place.hpp.
//
// Why two never hold one lock. A holder counts its lease less an allowance from before it sent; a
// client counts lease + allowance from a read that began after the sign of life was written, then
// reads once more and only then publishes the next generation. So a sign of life that the holder has
// completed within its old lease is seen by everybody who decides afterwards. One that it completes
// later counts for nothing, because somebody may have decided before it and publish after it, even
// hours after it if it was stopped in between: hence a generation that was silent for a lease by its
// own clock is burned. It is never renewed nor granted again, and its owner competes for the next.
// This needs clock rates within the allowance, and no clock is compared with another.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/store/clock.hpp"
#include "holdfast/store/factory.hpp"
#include "holdfast/store/store.hpp"
#include "store/directory/folder.hpp"
#include "store/directory/lock_folder.hpp"
#include "store/directory/place.hpp"
#include "store/directory/steps.hpp"
#include "store/directory/stopwatches.hpp"
#include "transport/spare_fds.hpp"
#include "transport/watch_list.hpp"
#include "transport/worker.hpp"

namespace holdfast::store::directory {

// One client's view of the folder. Exclusive mutexes in any order; there is no line, so those who
// wait look every now and then.
//
// Fences       generation << 10: fence + 1 … fence + 1023 are free for hand-offs.
// Blocking     Verbs read and write files. They run on a caller that waits anyway (Call::may_block),
//              else on a worker thread, which also looks after the claims that wait.
// Threads      All verbs from any thread.
class DirectoryStore final : public Store {
 public:
  static constexpr unsigned kFenceShift = 10;
  static constexpr std::uint64_t kMostSpare = (1U << kFenceShift) - 1;

  struct Parts {
    Place place;
    const Clock& clock;
    ClientId client;
    Steps* steps = nullptr;  // of a test
  };
  // Throws Failure.
  explicit DirectoryStore(Parts);
  ~DirectoryStore() override;

  Capabilities capabilities() const override;
  void try_grant(const GrantRequest&, Call<GrantReply>) override;
  void renew(std::span<const Renewal>, Call<RenewReply>) override;
  void release(const HoldKey&, Call<ReleaseReply>) override;
  void withdraw(const ClaimKey&, Call<WithdrawReply>) override;
  WatchPtr watch(const ClaimKey&, WakeFn) override;
  void inspect(std::string_view pattern, Call<InspectReply>) override;
  void force_release(const ForceRequest&, Call<ForceReply>) override;
  std::string place_of(Kind, const LockName&) const override;
  void examine(Call<ExamineReply>) override;
  void close() override;

 private:
  // Answers with verb(*this, arguments), here or on the worker.
  template <class Reply, class Arguments, class Verb>
  void ask(Call<Reply>, const Arguments&, Verb);
  template <class Reply, class Arguments, class Verb>
  void perform(Call<Reply>, const Arguments&, Verb);

  // The verbs, under mutex_.
  GrantReply do_grant(const GrantRequest&);
  RenewalReply do_renew(const Renewal&);
  ReleaseReply do_release(const HoldKey&);
  WithdrawReply do_withdraw(const ClaimKey&);
  InspectReply do_inspect(const std::string& pattern);
  ForceReply do_force(const ForceRequest&);

  // A lock as this client knows it after one look.
  struct Sight {
    LockFolder folder;
    Seen seen;
    Stopwatches::Left left;  // all zero if it was released
    bool held() const { return left.silence > Duration::zero(); }
    bool is(const HoldKey&) const;
  };
  std::optional<Sight> look_at(const LockName&);      // throws Removed
  std::optional<Sight> look_at_own(const LockName&);  // nothing if there is nothing to keep
  void look_at_claims();

  // A generation that this client has published, until the end of its lease by our own clock,
  // counted from before it was sent. After that it is burned.
  struct Own {
    std::uint64_t generation = 0;
    TimePoint until{};
  };
  bool publish(const GrantRequest&, const Sight&);
  // Renewed, or Gone.
  RenewalReply keep(const LockName&, const Sight&, Duration lease);
  // False: it was released already.
  bool let_go(const LockName&, const Sight&);
  Own* own(const LockName&, const Seen&);
  Refused refusal(const Sight&) const;

  bool root_is_there() const;
  void need_root() const;
  std::string stamp();

  // What one verb has open at a time: the folder of a lock and the one it lies in, a private file, a
  // listing. A process without descriptors can still renew and release.
  static constexpr std::size_t kMostOpen = 4;

  const Clock& clock_;
  const ClientId client_;
  const Place place_;
  transport::SpareFds spare_{kMostOpen};  // used under mutex_
  const Folder root_;
  Steps no_steps_;
  Steps& steps_;
  transport::WatchList watches_;
  std::atomic<bool> closed_ = false;  // set under mutex_

  std::mutex mutex_;  // guards what is below
  Stopwatches stopwatches_;
  std::map<LockName, Own> own_;
  std::uint64_t stamps_ = 0;

  std::unique_ptr<transport::Worker> worker_;  // last: it uses everything above
};

}  // namespace holdfast::store::directory

namespace holdfast::store {
extern const StoreFactory k_directory_factory;
}
