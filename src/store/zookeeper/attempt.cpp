#include "store/zookeeper/attempt.hpp"

#include <algorithm>
#include <utility>

#include "rules/objections.hpp"
#include "store/zookeeper/failure.hpp"
#include "store/zookeeper/node_data.hpp"

namespace holdfast::store::zookeeper {
namespace {

// So often the line may change under our eyes, or be taken away above us.
constexpr int kMostRounds = 100;

}  // namespace

NoAnswer Attempt::too_many_rounds() { return zookeeper::too_many_rounds(); }

// The question that was to set a watch may never have been asked, or never been answered: there was no memory.
Attempt::~Attempt() {
  if (!setting_watch_) return;
  const auto guard = ground_.places.lock();
  take_watch_back();
}

// ---- the beginning ----

void Attempt::begin(Call<GrantReply> call) {
  deadline_ = call.deadline();
  waits_ = call.may_block();
  call_ = std::move(call);
  begin();
}

void Attempt::begin_look() {
  deadline_ = later(ground_.clock.now(), ground_.tree.timeout());
  begin();
}

void Attempt::begin() {
  std::vector<std::string> lapsed;
  Stage stage{};
  std::int64_t session = 0;
  {
    const auto guard = ground_.places.lock();
    asked_at_ = ground_.clock.now();
    Place& place = *place_;
    if (place.session != ground_.tree.session()) ground_.places.forget_nodes(place);
    session = place.session;
    const bool known = place.stage != Stage::none && place.stage != Stage::unknown;
    if (known && place.until <= asked_at_) lapsed = ground_.places.condemn(place);
    place.fired = false;
    stage = place.stage;
    if (stage != Stage::none) session_ = session;
  }
  ground_.places.remove(place_, lapsed, session);
  const bool lost_its_place = !is_asked() && stage == Stage::none;
  lost_its_place ? end_look(Wake{}) : start(stage);
}

bool Attempt::may_go_on() {
  return ++rounds_ <= kMostRounds && (rounds_ == 1 || ground_.clock.now() < deadline_);
}

// ---- nodes ----

void Attempt::doubt() {
  const auto guard = ground_.places.lock();
  Place& place = *place_;
  before_doubt_ = place.stage;
  place.stage = Stage::unknown;
  place.session = session_ != 0 ? session_ : ground_.tree.session();
  ground_.places.set_until(place, later(asked_at_, terms().lease));
}

void Attempt::has_nodes(Stage stage, std::vector<std::string> paths, std::uint64_t fence) {
  const auto guard = ground_.places.lock();
  Place& place = *place_;
  before_doubt_.reset();
  made_ = true;
  place.stage = stage;
  place.session = session_;
  place.nodes = std::move(paths);
  place.versions.assign(place.nodes.size(), 0);
  // A reader stands where the writer stood, and nobody has come before it since.
  place.kinds_checked = terms().instead_of.has_value();
  place.revoked = false;
  place.fence = fence;
  // The session in which it was doubted may have ended before the question was sent, and its end with it.
  if (place.until == kNever) ground_.places.set_until(place, later(asked_at_, terms().lease));
  // The reader that a writer becomes has the last of the writer's fences.
  place.spare = terms().instead_of ? 0 : ground_.fences.spare(terms().kind, terms().spare);
}

void Attempt::has_none() {
  const auto guard = ground_.places.lock();
  before_doubt_.reset();
  made_ = false;
  ground_.places.forget_nodes(*place_);
}

void Attempt::has_what_it_had() {
  const auto guard = ground_.places.lock();
  if (before_doubt_) place_->stage = *std::exchange(before_doubt_, std::nullopt);
}

bool Attempt::kinds_are_checked() const {
  const auto guard = ground_.places.lock();
  return place_->kinds_checked;
}

void Attempt::has_checked_kinds() {
  const auto guard = ground_.places.lock();
  place_->kinds_checked = true;
}

// ---- the ends ----

void Attempt::grant() {
  const Duration lease = ground_.lease_from(asked_at_, terms().lease, session_);
  const bool too_late = lease <= Duration::zero() || later(asked_at_, lease) <= ground_.clock.now();
  if (too_late && is_asked()) return silent(session_may_be_over());
  if (!is_asked()) {
    ground_.places.offer(place_);
    return end_look();
  }
  Granted granted;
  {
    const auto guard = ground_.places.lock();
    Place& place = *place_;
    ground_.places.unwatch(place);
    place.stage = Stage::held;
    ground_.places.hold(place, asked_at_, lease);
    granted = {place.fence, place.spare, lease, place.slots};
  }
  end(std::move(granted));
}

Refused Attempt::refusal(std::uint32_t ahead, std::uint32_t waiting,
                         std::uint64_t fence_counter) const {
  Refused no;
  no.ahead = ahead;
  no.waiting = waiting;
  no.fence_counter = fence_counter;
  const auto guard = ground_.places.lock();
  const SeenHolder& holder = place_->holder;
  no.lease_left = holder.node.empty() ? ground_.tree.timeout() : holder.lease;
  if (!holder.node.empty()) no.holder = holder.record;
  no.retry_after = no.lease_left + terms().confirm_within * ahead;
  return no;
}

void Attempt::refuse(std::uint32_t ahead, std::uint32_t waiting, std::uint64_t fence_counter) {
  if (!is_asked()) return end_look();
  // One that ends while it waits is told; one that had ended before it began to wait was not.
  if (ground_.tree.session() != session_) return silent(session_may_be_over());
  end(refusal(ahead, waiting, fence_counter));
}

// Who waits is told why when it asks.
void Attempt::end(GrantReply reply) {
  if (!is_asked()) return end_look(Wake{});
  turn_.leave([call = std::move(call_), reply = std::move(reply)]() mutable {
    call.answer(std::move(reply));
  });
}

void Attempt::end_look(std::optional<Wake> wake) {
  turn_.leave([&places = ground_.places, owner = terms().owner, wake] {
    if (wake) places.tell(owner, *wake);
  });
}

void Attempt::silent(NoAnswer none) {
  give_up();
  {
    const auto guard = ground_.places.lock();
    Place& place = *place_;
    if (before_doubt_) {
      const std::int64_t now = ground_.tree.session();
      if (none.executed) {
        // Also if another session ended since: the question may have been asked in this one.
        place.stage = Stage::unknown;
        place.session = session_ != 0 ? session_ : now;
        ground_.places.set_until(place, later(asked_at_, terms().lease));
      } else {
        place.stage = *before_doubt_;
      }
      const bool over = place.session == 0 || place.session != now;
      if (place.stage == Stage::none || over) ground_.places.forget_nodes(place);
    }
    take_watch_back();
  }
  none.executed = none.executed || made_;  // whatever became of the last question
  end(std::move(none));
}

void Attempt::turn_away(GrantReply reply) { turn_away(std::move(reply), std::nullopt); }

void Attempt::turn_away_behind(Refused reply, const std::string& holder) {
  turn_away(std::move(reply), holder);
}

// Whatever becomes of it: the answer is known, and the nodes will go.
void Attempt::turn_away(GrantReply reply, std::optional<std::string> holder) {
  std::vector<std::string> paths;
  std::int64_t session = 0;
  {
    const auto guard = ground_.places.lock();
    before_doubt_.reset();
    session = place_->session;
    paths = ground_.places.condemn(*place_);
  }
  std::vector<Request> requests = removals(paths);
  if (holder) requests.push_back({.op = Op::get_data, .path = *holder});
  if (requests.empty()) return end(std::move(reply));
  auto self = shared_from_this();
  ground_.tree.ask(
      std::move(requests), deadline_, waits_, session,
      [self, paths, session, holder, reply = std::move(reply)](const Outcome& outcome) mutable {
        const auto* answers = std::get_if<Answers>(&outcome);
        if (answers == nullptr) {
          self->ground_.places.remove(self->place_, paths, session);
          return self->end(std::move(reply));
        }
        self->ground_.places.removed(self->place_, paths, session, *answers);
        if (auto* refused = std::get_if<Refused>(&reply); refused != nullptr && holder) {
          self->remember_holder(last_part_of(*holder), answers->replies.back());
          *refused = self->refusal(refused->ahead, refused->waiting, refused->fence_counter);
        }
        self->end(std::move(reply));
      });
}

// ---- what is known ----

bool Attempt::is_awaited() const {
  const auto guard = ground_.places.lock();
  return ground_.places.is_awaited(*place_);
}

std::string Attempt::own_node() const {
  const auto guard = ground_.places.lock();
  return place_->nodes.empty() ? std::string() : place_->nodes.front();
}

std::string Attempt::data_text(std::uint64_t fence) const {
  return text_of(NodeData{terms().owner, terms().shape, terms().lease, fence, terms().record});
}

void Attempt::remember_holder(std::string_view node, const Reply& reply) {
  const auto guard = ground_.places.lock();
  SeenHolder& holder = place_->holder;
  holder = {};
  if (reply.code != Code::ok) return;
  holder.node = node;
  holder.record = record_of(node, reply.data);
  const auto data = node_data_in(reply.data);
  holder.lease = data ? data->lease : ground_.tree.timeout();
}

void Attempt::watch(std::vector<std::string> paths, bool is_next) {
  const auto guard = ground_.places.lock();
  setting_watch_ = true;
  place_->fired = false;
  ground_.places.watch(place_, std::move(paths));
  place_->is_next = is_next;
}

// With the lock.
void Attempt::take_watch_back() {
  if (std::exchange(setting_watch_, false)) ground_.places.unwatch(*place_);
}

bool Attempt::watches() {
  const auto guard = ground_.places.lock();
  setting_watch_ = false;
  return place_->fired;
}

}  // namespace holdfast::store::zookeeper
