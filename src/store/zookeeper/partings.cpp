#include "store/zookeeper/partings.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/zookeeper/failure.hpp"
#include "store/zookeeper/grant.hpp"

namespace holdfast::store::zookeeper {
namespace {

using Paths = std::vector<std::string>;

constexpr Duration kLookAgain = std::chrono::seconds(1);

// What the server refused, and we shall ask for again.
NoAnswer not_yet(const Reply& refused, const std::string& path) {
  NoAnswer none = failure(refused, path);
  none.executed = true;
  return none;
}

// Takes away whatever one claim has in the tree, in its turn, and answers whether that is certain.
class Clearance : public std::enable_shared_from_this<Clearance> {
 public:
  struct Terms {
    TimePoint deadline;
    bool waits = false;
  };
  using Done = std::function<void(Places::Turn&, std::optional<NoAnswer>)>;

  Clearance(Ground& ground, Places::Turn turn, Terms terms, Done done)
      : ground_(ground),
        place_(turn.place()),
        terms_(terms),
        done_(std::move(done)),
        turn_(std::move(turn)) {}

  void begin() {
    bool unclear = false;
    {
      const auto guard = ground_.places.lock();
      Place& place = *place_;
      if (place.session != ground_.tree.session()) ground_.places.forget_nodes(place);
      session_ = place.session;
      unclear = place.stage == Stage::unknown;
    }
    unclear ? search() : remove();
  }

 private:
  void search() {
    const GrantRequest& claim = place_->terms;
    std::vector<std::string> folders{ground_.layout.line(claim.kind, claim.name)};
    if (claim.kind == Kind::semaphore) folders.push_back(ground_.layout.leases(claim.name));
    std::vector<Request> requests{agreement()};
    for (const std::string& each : folders) {
      requests.push_back({.op = Op::get_children, .path = each});
    }
    auto self = shared_from_this();
    ground_.tree.ask(std::move(requests), terms_.deadline, terms_.waits, session_,
                     [self, folders](const Outcome& outcome) { self->searched(folders, outcome); });
  }

  void searched(const std::vector<std::string>& folders, const Outcome& outcome) {
    if (const auto* none = std::get_if<NoAnswer>(&outcome)) return done_(turn_, *none);
    const auto& replies = std::get<Answers>(outcome).replies;
    Paths found;
    for (std::size_t i = 0; i < folders.size(); ++i) {
      const Reply& list = replies[i + 1];
      if (list.code != Code::ok && list.code != Code::no_node) {
        return done_(turn_, not_yet(list, folders[i]));
      }
      for (const std::string& name : list.children) {
        if (name.starts_with(mark_of(place_->terms.owner)))
          found.push_back(folders[i] + '/' + name);
      }
    }
    {
      const auto guard = ground_.places.lock();
      place_->nodes = std::move(found);
    }
    remove();
  }

  void remove() {
    Paths paths;
    {
      const auto guard = ground_.places.lock();
      ground_.places.condemn(*place_);
      paths.assign(place_->leaving.begin(), place_->leaving.end());
    }
    if (paths.empty()) return done_(turn_, std::nullopt);
    auto self = shared_from_this();
    ground_.tree.ask(removals(paths), terms_.deadline, terms_.waits, session_,
                     [self, paths](const Outcome& outcome) { self->removed(paths, outcome); });
  }

  void removed(const Paths& paths, const Outcome& outcome) {
    if (const auto* none = std::get_if<NoAnswer>(&outcome)) {
      ground_.places.remove(place_, paths, session_);
      return done_(turn_, *none);
    }
    const Reply* const refused =
        ground_.places.removed(place_, paths, session_, std::get<Answers>(outcome));
    if (refused != nullptr) return done_(turn_, not_yet(*refused, paths.front()));
    done_(turn_, std::nullopt);
  }

  Ground& ground_;
  const Places::Ptr place_;
  const Terms terms_;
  const Done done_;
  std::int64_t session_ = 0;
  Places::Turn turn_;  // is left before done_ lets go of a Call, as in Attempt
};

// Gives back one hold, in the turn of its claim.
class Giving : public std::enable_shared_from_this<Giving> {
 public:
  Giving(Ground& ground, Places::Turn turn, HoldKey hold, Call<ReleaseReply> call)
      : ground_(ground),
        place_(turn.place()),
        hold_(std::move(hold)),
        call_(std::move(call)),
        turn_(std::move(turn)) {}

  void begin() {
    bool ours = false;
    {
      const auto guard = ground_.places.lock();
      Place& place = *place_;
      const bool lives = place.session == ground_.tree.session();
      session_ = place.session;
      if (lives && place.is_hold_of(hold_) && place.until > ground_.clock.now()) {
        paths_ = ground_.places.condemn(place);
        ours = true;
      } else if (lives && place.left == hold_.fence) {  // given back, but nobody was told so
        paths_.assign(place.leaving.begin(), place.leaving.end());
        ours = !paths_.empty();
      }
    }
    if (!ours) return end(Gone{});
    for (const std::string& path : paths_) ground_.quiet.leaves(path);
    std::vector<Request> requests = removals(paths_);
    auto self = shared_from_this();
    ground_.tree.ask(std::move(requests), call_.deadline(), call_.may_block(), session_,
                     [self](const Outcome& outcome) { self->removed(outcome); });
  }

 private:
  void removed(const Outcome& outcome) {
    if (const auto* none = std::get_if<NoAnswer>(&outcome)) {
      ground_.places.remove(place_, paths_, session_);
      return end(*none);
    }
    const auto& answers = std::get<Answers>(outcome);
    const auto& replies = answers.replies;
    if (const Reply* const refused = ground_.places.removed(place_, paths_, session_, answers)) {
      return end(not_yet(*refused, paths_.front()));
    }
    for (const std::string& path : paths_) ground_.quiet.left(path);
    const bool was_there = std::any_of(replies.begin(), replies.end(),
                                       [](const Reply& each) { return each.code == Code::ok; });
    was_there ? end(Released{}) : end(Gone{});
  }

  void end(ReleaseReply reply) {
    turn_.leave([call = std::move(call_), reply = std::move(reply)]() mutable {
      call.answer(std::move(reply));
    });
  }

  Ground& ground_;
  const Places::Ptr place_;
  const HoldKey hold_;
  Call<ReleaseReply> call_;
  Paths paths_;
  std::int64_t session_ = 0;
  Places::Turn turn_;  // is left before the Call goes, as in Attempt
};

}  // namespace

void release(Ground& ground, const HoldKey& hold, Call<ReleaseReply> call) {
  // Work may be copied, a Call not.
  auto shared = std::make_shared<Call<ReleaseReply>>(std::move(call));
  const bool known = ground.places.enter(hold, [&ground, hold, shared](Places::Turn turn) {
    std::make_shared<Giving>(ground, std::move(turn), hold, std::move(*shared))->begin();
  });
  if (!known) shared->answer(Gone{});
}

void withdraw(Ground& ground, const ClaimKey& claim, Call<WithdrawReply> call) {
  auto shared = std::make_shared<Call<WithdrawReply>>(std::move(call));
  const bool known = ground.places.enter(claim, [&ground, shared](Places::Turn turn) {
    const Clearance::Terms terms{shared->deadline(), shared->may_block()};
    auto done = [shared](Places::Turn& its, std::optional<NoAnswer> none) {
      its.leave([shared, none = std::move(none)]() mutable {
        none ? shared->answer(*std::move(none)) : shared->answer(Withdrawn{});
      });
    };
    std::make_shared<Clearance>(ground, std::move(turn), terms, std::move(done))->begin();
  });
  if (!known) shared->answer(Withdrawn{});
}

// Somebody may have had its turn since this one was found to be due.
void clear(Ground& ground, Places::Turn turn) {
  bool is_due = false;
  {
    const auto guard = ground.places.lock();
    is_due = turn.place()->until <= ground.clock.now();
  }
  if (!is_due) return turn.leave();
  const Clearance::Terms terms{later(ground.clock.now(), ground.tree.timeout())};
  auto done = [&ground](Places::Turn& its, const std::optional<NoAnswer>&) {
    {
      const auto guard = ground.places.lock();
      if (its.place()->stage == Stage::unknown) {
        ground.places.set_until(*its.place(), later(ground.clock.now(), kLookAgain));
      }
    }
    its.leave();
  };
  std::make_shared<Clearance>(ground, std::move(turn), terms, std::move(done))->begin();
}

}  // namespace holdfast::store::zookeeper
