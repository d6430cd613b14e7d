// What this client has in the tree: for each of its claims the nodes that stand for it, and until when.
//
// Nodes do not lapse while the session lives, so leases, places in line and offers that nobody confirmed end
// by this client's own clock: then their nodes are deleted. What a dead client left ends with its session.
//
//   stage    its nodes                                       ends
//   none        there are none, or they are being deleted       a timeout later they are deleted again: there may
//                                                              have been no memory to say it
//   unknown     some may have been made: no answer came         when it was looked for, and deleted
//   waiting     one, in the line                                line_for after it was asked for last
//   offered     those of the hold                               confirm_within after it was told
//   held        those of the hold                               a lease after it was asked for or renewed last
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/store/requests.hpp"
#include "holdfast/store/watch.hpp"
#include "holdfast/task.hpp"
#include "store/zookeeper/tree.hpp"
#include "store/zookeeper/wanted_watches.hpp"
#include "transport/watch_list.hpp"

namespace holdfast::store::zookeeper {

enum class Stage : std::uint8_t { none, unknown, waiting, offered, held };

// Who is in the way, as far as it was read.
struct SeenHolder {
  std::string node;
  HolderRecord record;
  Duration lease{};
};

// One claim. Guarded by the lock of its Places; beginnings are made only by whose turn it is.
struct Place {
  explicit Place(const GrantRequest& request) : terms(request) {}

  GrantRequest terms;  // as it was asked for last
  Stage stage = Stage::none;
  std::int64_t session = 0;              // of the nodes
  std::vector<std::string> nodes{};      // paths
  std::vector<std::int32_t> versions{};  // of their data, as we know them
  std::uint64_t fence = 0;               // waiting: what it will be, if that is known
  std::uint64_t spare = 0;
  std::vector<std::uint32_t> slots{};
  // Nobody had the name as another kind when they came. Until that was seen nothing is granted by them.
  bool kinds_checked = false;
  bool revoked = false;
  TimePoint until = kNever;
  TimePoint asked_at = TimePoint::min();  // when the lease was asked for that it has

  std::set<std::string> leaving{};  // being deleted
  std::uint64_t left = 0;           // the fence of the hold whose nodes these were

  std::vector<std::string> watched{};  // paths whose watch is set
  bool fired = false;                  // one of them has, in the turn that goes on
  bool is_next = false;                // when the one that is watched is deleted, it is ours
  std::uint32_t ahead = 0;             // in the line when it was last read, and all that waited
  std::uint32_t waiting = 0;
  SeenHolder holder{};

  bool busy = false;  // it is somebody's turn
  std::deque<Task> queue{};

  bool is_hold() const { return stage == Stage::held || stage == Stage::offered; }
  bool is_hold_of(const HoldKey& key) const {
    return is_hold() && terms.kind == key.kind && fence == key.fence;
  }
  // Whether nobody has written to its nodes since we read them; what was told of each, in their order.
  bool knows(std::span<const Reply> nodes_seen) const;
  // All of them were read. Curator's Revoker writes to one of several, whichever it is.
  void learn(std::span<const Reply> nodes_read);
};

std::vector<Request> removals(const std::vector<std::string>& paths);

// Threads      From any thread. Nobody is told anything with the lock held, and the tree is asked nothing.
// Lifetime     close() waits for what runs on the loop; it must not be called there.
class Places {
 public:
  using Ptr = std::shared_ptr<Place>;
  using Guard = std::unique_lock<std::mutex>;
  class Turn;
  using Work = std::function<void(Turn)>;
  struct Parts {
    Tree& tree;
    WantedWatches& watches;
    const Clock& clock;
    Loop& loop;
    // What to do with a claim in its turn: see whether it has what it waits for; look for nodes that may
    // have been made, and delete them.
    Work look;
    Work clear;
  };

  explicit Places(Parts);
  ~Places();

  // ---- turns ----
  // Runs the work when it is its turn on that claim.
  void enter(const GrantRequest&, Work);
  // False if there is no such claim.
  bool enter(const ClaimKey&, Work);

  // ---- with the lock ----
  Guard lock() const { return Guard(mutex_); }
  Ptr find(const ClaimKey&) const;
  bool is_awaited(const Place&) const;  // somebody is there to be told
  void set_until(Place&, TimePoint);
  // For a lease from then; unless it has one that was asked for later, and answered before.
  void hold(Place&, TimePoint asked_at, Duration lease);
  void forget_nodes(Place&);        // none of them is there any more
  bool drop_if_idle(const Place&);  // true: it is gone
  // They are to go: whoever calls this deletes them and says left(), or calls remove().
  std::vector<std::string> condemn(Place&);
  void watch(const Ptr&, std::vector<std::string> paths);
  void unwatch(Place&);

  // ---- without it ----
  void remove(const Ptr&, const std::vector<std::string>& paths, std::int64_t session);
  void left(const Ptr&, const std::vector<std::string>& paths);
  // They were to be deleted, and so it was answered. Those that the server would not delete are deleted later;
  // what it said of one of these, or null.
  const Reply* removed(const Ptr&, const std::vector<std::string>& paths, std::int64_t session,
                       const Answers&);
  WatchPtr await(const ClaimKey& claim, WakeFn wake) {
    return watches_.add(claim, std::move(wake));
  }
  void tell(const OwnerId&, const Wake&) const;
  // It has what it waits for.
  void offer(const Ptr&);

  void fired(const std::string& path, Event);
  void session_ended(std::int64_t session);
  void close();

 private:
  using Key = std::pair<LockName, OwnerId>;
  static Key key_of(const ClaimKey& claim) { return {claim.name, claim.owner}; }

  void run(const Ptr&, Work, Guard);
  void leave(const Ptr&, Task answer);
  void note_interest(const Ptr&, const std::string& path);
  bool is_to_look(const Place&) const;  // when a watch of its fires
  Wake offer_of(Place&);
  bool offer_into(std::vector<std::pair<OwnerId, Wake>>&, Place&);
  void arm(TimePoint);
  void lapse();

  const Parts parts_;
  mutable std::mutex mutex_;
  std::map<Key, Ptr> places_;
  std::map<std::string, std::vector<Ptr>> interested_;  // in paths that are watched
  transport::WatchList watches_;
  bool wanted_ = false;  // as the tree was told

  // One for all, at the earliest time at which any of them may end.
  struct Timer;
  const std::shared_ptr<Timer> timer_;
  TimerId timer_id_ = 0;
  TimePoint timer_at_ = kNever;
  bool closed_ = false;
};

// The right to change what a claim has. Whoever lets go of it without a word has left, too: there was no memory to
// go on.
class Places::Turn {
 public:
  Turn(Places& places, Ptr place) : places_(&places), place_(std::move(place)) {}
  Turn(Turn&& other) noexcept : places_(other.places_), place_(std::move(other.place_)) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn();

  const Ptr& place() const { return place_; }
  // The next one begins; then it is answered, which may be the end of the store.
  void leave(Task answer = {}) {
    places_->leave(std::exchange(place_, nullptr), std::move(answer));
  }

 private:
  Places* places_;
  Ptr place_;
};

}  // namespace holdfast::store::zookeeper
