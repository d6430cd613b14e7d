#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/store/blocked_caller.hpp"
#include "holdfast/store/call.hpp"
#include "holdfast/store/capabilities.hpp"
#include "holdfast/store/replies.hpp"
#include "holdfast/store/requests.hpp"
#include "holdfast/store/watch.hpp"

namespace holdfast::store {

class Cells;

// Where locks live, seen by one client. Each verb is ONE attempt: a store never retries, waits,
// renews or logs. Its only clock is its own; the engine does everything that takes time.
//
// The rules, each a conformance test:
//   same owner     try_grant repeated by one owner gives the same fence and restarts the lease.
//   compare        Every write compares owner and fence. renew never re-creates.
//   line           A free lock with a line is handed to its head, also by a stranger's try_grant.
//                  A hand-over is an offer with a fresh fence and a short lease (confirm_within);
//                  renewing it, or asking again, confirms it. A head whose line entry has lapsed is
//                  skipped. The one behind is told when to look, or offered it as soon as the offer lapses.
//   fences         Grow with every change of hands; fence + 1 … fence + spare stay reserved.
//   one place      An owner never holds and stands in line at once, also if its hold was revoked.
//   withdraw       Leaves the line and releases a grant made meanwhile.
//   revoke         force_release without `now`: renewals answer Gone{forced}, the lock is free when
//                  its holder releases it or its lease ends.
//   kinds          A name in use with another kind is Rejected (or is another lock).
//   shapes         One line serves all shapes in order. Readers that stand together at its head are
//                  served together; nobody overtakes a head that waits, however little it wants.
//   permits        Either all that a claim takes or none. The number there are is that of the claims
//                  in use (another one is Rejected with size_mismatch), or the `size` cell's once
//                  that was written: a number from 1 to kMaxPermits, in digits. A new size serves the
//                  line at once, takes nothing from those who hold, and whoever waits for more than
//                  it leaves the line and is told.
//   instead of     An upgrade (upgradeable to exclusive) waits at the head of the line and keeps its
//                  old hold until it is granted; a downgrade is granted at once. Readers cannot be
//                  upgraded: two of them would wait for each other. If the old hold is gone the
//                  request is Rejected with lost.
//
// Threads      All verbs from any thread. Calls may be answered inline. No lock of the store's may
//              be held while a Call is answered or a WakeFn runs.
// Lifetime     close() answers every open Call; no verb follows it. Then the store is destroyed.
class Store {
 public:
  virtual ~Store() = default;

  virtual Capabilities capabilities() const = 0;

  virtual void try_grant(const GrantRequest&, Call<GrantReply>) = 0;
  virtual void renew(std::span<const Renewal>, Call<RenewReply>) = 0;  // at most kMaxBatch
  virtual void release(const HoldKey&, Call<ReleaseReply>) = 0;
  virtual void withdraw(const ClaimKey&, Call<WithdrawReply>) = 0;
  virtual WatchPtr watch(const ClaimKey&, WakeFn) = 0;

  // Locks whose whole name matches a pattern with * and ?; a backslash takes the next byte as it is.
  virtual void inspect(std::string_view pattern, Call<InspectReply>) = 0;
  virtual void force_release(const ForceRequest&, Call<ForceReply>) = 0;

  virtual Cells* cells() { return nullptr; }

  // How the store itself calls that lock, a key, a path or a row: for people, not for parsing.
  virtual std::string place_of(Kind, const LockName& name) const { return printable(name.bytes()); }
  // Settings, rights, sizes and ages that an operator should know of.
  virtual void examine(Call<ExamineReply> call) { call.answer(std::vector<Finding>()); }
  // A descriptor that shows the store that this client lives, or -1. Whoever inherits it counts as
  // part of the client: its locks are not taken over early before that process is gone, too.
  virtual int lifeline() { return -1; }

  // Lends a blocked caller's thread to the transport. True: it drove, look whether its answer is
  // there. False: somebody else does (or the store needs nobody), sleep until woken or nudged.
  virtual bool drive(const std::shared_ptr<BlockedCaller>&) { return false; }
  // That caller is done by another way than the transport it may be driving (a timer, a lock handed
  // on by another thread): if it sits in drive(), let it look.
  virtual void interrupt(const BlockedCaller&) {}

  virtual void close() = 0;

  static constexpr std::size_t kMaxBatch = 100;
};

}  // namespace holdfast::store
