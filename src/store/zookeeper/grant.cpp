#include "store/zookeeper/grant.hpp"

#include <memory>
#include <utility>

#include "rules/objections.hpp"
#include "store/zookeeper/permit_attempt.hpp"
#include "store/zookeeper/queue_attempt.hpp"

namespace holdfast::store::zookeeper {
namespace {

// More would not fit into one message.
constexpr std::uint32_t kMostPermitsAtOnce = 1000;

std::optional<Rejected> objection(const GrantRequest& ask, const Fences& fences) {
  using Form = Shape::Form;
  const bool upgradeable = ask.shape.form == Form::upgradeable ||
                           (ask.instead_of && ask.instead_of->shape.form == Form::upgradeable);
  if (upgradeable && ask.kind == Kind::shared_mutex) {
    return Rejected{Errc::unsupported, "ZooKeeper's shared mutexes have no upgradeable readers"};
  }
  if (auto no = rules::objection(ask)) return no;
  if (ask.instead_of && fences.native()) {
    return Rejected{Errc::unsupported,
                    "with ?fence=native there is no fence for the reader that a writer becomes"};
  }
  if (ask.shape.form == Form::permits && ask.shape.take > kMostPermitsAtOnce) {
    return Rejected{Errc::unsupported, "ZooKeeper takes 1000 permits at a time, not more"};
  }
  return std::nullopt;
}

std::shared_ptr<Attempt> make_attempt(Ground& ground, Places::Turn turn, Kind kind) {
  if (kind == Kind::semaphore) return std::make_shared<PermitAttempt>(ground, std::move(turn));
  return std::make_shared<QueueAttempt>(ground, std::move(turn));
}

}  // namespace

void try_grant(Ground& ground, const GrantRequest& request, Call<GrantReply> call) {
  if (auto no = objection(request, ground.fences)) return call.answer(*std::move(no));
  // Work may be copied, a Call not.
  auto shared = std::make_shared<Call<GrantReply>>(std::move(call));
  ground.places.enter(request, [&ground, request, shared](Places::Turn turn) {
    std::optional<Kind> other;
    {
      const auto guard = ground.places.lock();
      Place& place = *turn.place();
      if (place.stage != Stage::none && place.terms.kind != request.kind) {
        other = place.terms.kind;
      } else {
        place.terms = request;
      }
    }
    if (other) return turn.leave([shared, other] { shared->answer(rules::in_use_as(*other)); });
    make_attempt(ground, std::move(turn), request.kind)->begin(std::move(*shared));
  });
}

void look(Ground& ground, Places::Turn turn) {
  const Kind kind = turn.place()->terms.kind;
  make_attempt(ground, std::move(turn), kind)->begin_look();
}

}  // namespace holdfast::store::zookeeper
