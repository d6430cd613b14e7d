#include "store/zookeeper/places.hpp"

#include <algorithm>
#include <condition_variable>
#include <new>
#include <utility>

#include "store/zookeeper/node_data.hpp"
#include "transport/insist.hpp"

namespace holdfast::store::zookeeper {

// ---- one of them ----

bool Place::knows(std::span<const Reply> nodes_seen) const {
  return std::equal(
      nodes_seen.begin(), nodes_seen.end(), versions.begin(), versions.end(),
      [](const Reply& seen, std::int32_t version) { return seen.stat.version == version; });
}

void Place::learn(std::span<const Reply> nodes_read) {
  versions.clear();
  for (const Reply& each : nodes_read) {
    versions.push_back(each.stat.version);
    revoked = revoked || is_revoked(each.data);
  }
}

std::vector<Request> removals(const std::vector<std::string>& paths) {
  std::vector<Request> requests;
  for (const std::string& path : paths) requests.push_back({.op = Op::remove, .path = path});
  return requests;
}

// ---- all of them ----

// What the loop knows of the places: it may call when they are gone.
struct Places::Timer {
  explicit Timer(Places& all) : places(&all) {}

  std::mutex mutex;
  std::condition_variable idle;
  Places* places;  // null: closed
  int running = 0;

  // Within, the places stay.
  class Visit {
   public:
    explicit Visit(Timer& timer) : timer_(timer) {
      const std::lock_guard lock(timer_.mutex);
      places_ = timer_.places;
      ++timer_.running;
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() {
      const std::lock_guard lock(timer_.mutex);
      --timer_.running;
      timer_.idle.notify_all();
    }
    Places* places() const { return places_; }

   private:
    Timer& timer_;
    Places* places_;
  };
  void run() {
    const Visit visit(*this);
    if (visit.places() != nullptr) transport::insist([&] { visit.places()->lapse(); });
  }
};

Places::Places(Parts parts) : parts_(std::move(parts)), timer_(std::make_shared<Timer>(*this)) {}

Places::~Places() { close(); }

void Places::close() {
  {
    std::unique_lock lock(timer_->mutex);
    timer_->places = nullptr;
    timer_->idle.wait(lock, [this] { return timer_->running == 0; });
  }
  const Guard guard = lock();
  closed_ = true;
  if (timer_at_ != kNever) parts_.loop.cancel(timer_id_);
  timer_at_ = kNever;
}

// ---- turns ----

Places::Turn::~Turn() {
  if (!place_) return;
  try {
    leave();
  } catch (const std::bad_alloc&) {
    // Those behind end in the same way, one after the other.
  }
}

void Places::run(const Ptr& place, Work work, Guard guard) {
  if (place->busy) {
    place->queue.emplace_back([this, place, work = std::move(work)] { work(Turn(*this, place)); });
    return;
  }
  place->busy = true;
  guard.unlock();
  work(Turn(*this, place));
}

void Places::enter(const GrantRequest& request, Work work) {
  Guard guard = lock();
  Ptr place = find(request);
  if (!place) {
    place = std::make_shared<Place>(request);
    places_.emplace(key_of(request), place);
  }
  if (!std::exchange(wanted_, true)) parts_.tree.keep_valid(true);
  run(place, std::move(work), std::move(guard));
}

bool Places::enter(const ClaimKey& claim, Work work) {
  Guard guard = lock();
  const Ptr place = find(claim);
  if (!place) return false;
  run(place, std::move(work), std::move(guard));
  return true;
}

void Places::leave(const Ptr& place, Task answer) {
  Task next;
  bool looks = false;
  {
    const Guard guard = lock();
    if (!place->queue.empty()) {
      next = std::move(place->queue.front());
      place->queue.pop_front();
    } else {
      // It may have fired after the turn looked whether anything had.
      looks = std::exchange(place->fired, false) && is_to_look(*place);
      place->busy = looks;
    }
    if (!place->busy && !drop_if_idle(*place)) arm(place->until);
  }
  if (looks) parts_.look(Turn(*this, place));
  if (next) next();
  if (answer) answer();
}

// ---- with the lock ----

Places::Ptr Places::find(const ClaimKey& claim) const {
  const auto found = places_.find(key_of(claim));
  return found == places_.end() ? nullptr : found->second;
}

bool Places::is_awaited(const Place& place) const { return watches_.has(place.terms.owner); }

bool Places::is_to_look(const Place& place) const {
  return place.stage == Stage::waiting && is_awaited(place);
}

bool Places::drop_if_idle(const Place& place) {
  if (place.busy || place.stage != Stage::none || !place.leaving.empty()) return false;
  const auto found = places_.find(key_of(place.terms));
  if (found == places_.end() || found->second.get() != &place) return true;
  places_.erase(found);
  // If no timer is set, since it was this one's turn when the last one came, none would see that all have left.
  const bool unseen = wanted_ && places_.empty() && timer_at_ == kNever;
  try {
    if (unseen) arm(later(parts_.clock.now(), place.terms.lease));
  } catch (const std::bad_alloc&) {
    // When the next one has left, then.
  }
  return true;
}

void Places::set_until(Place& place, TimePoint until) {
  arm(until);
  place.until = until;
}

void Places::hold(Place& place, TimePoint asked_at, Duration lease) {
  if (asked_at < place.asked_at) return;
  place.asked_at = asked_at;
  set_until(place, later(asked_at, lease));
}

void Places::forget_nodes(Place& place) {
  unwatch(place);
  place.stage = Stage::none;
  place.nodes.clear();
  place.slots.clear();
  place.kinds_checked = false;
  place.revoked = false;
  place.until = kNever;
  place.asked_at = TimePoint::min();
}

std::vector<std::string> Places::condemn(Place& place) {
  if (place.is_hold()) place.left = place.fence;
  std::vector<std::string> paths = place.nodes;
  place.leaving.insert(paths.begin(), paths.end());
  forget_nodes(place);
  // There may be no memory to say that they are to go.
  if (!place.leaving.empty()) place.until = later(parts_.clock.now(), parts_.tree.timeout());
  return paths;
}

void Places::watch(const Ptr& place, std::vector<std::string> paths) {
  if (place->watched == paths) return;
  unwatch(*place);
  place->watched.reserve(paths.size());
  for (std::string& path : paths) {
    note_interest(place, path);
    place->watched.push_back(std::move(path));
  }
}

// All of it or, without memory, nothing: what is counted must be what is taken back.
void Places::note_interest(const Ptr& place, const std::string& path) {
  const auto [found, is_first] = interested_.try_emplace(path);
  try {
    found->second.push_back(place);
    if (is_first) parts_.watches.want(path);
  } catch (const std::bad_alloc&) {
    std::erase(found->second, place);
    if (is_first) interested_.erase(found);
    throw;
  }
}

void Places::unwatch(Place& place) {
  for (const std::string& path : place.watched) {
    const auto found = interested_.find(path);
    if (found == interested_.end()) continue;
    std::erase_if(found->second, [&](const Ptr& each) { return each.get() == &place; });
    if (!found->second.empty()) continue;
    interested_.erase(found);
    parts_.watches.unwant(path);
  }
  place.watched.clear();
  place.is_next = false;
}

// ---- without it ----

void Places::remove(const Ptr& place, const std::vector<std::string>& paths, std::int64_t session) {
  for (const std::string& path : paths) {
    transport::insist([&] {
      parts_.tree.remove_for_sure(path, session, [this, place, path] { left(place, {path}); });
    });
  }
  if (paths.empty()) return;
  const Guard guard = lock();
  if (place->stage == Stage::none) place->until = kNever;  // it is certain
}

void Places::left(const Ptr& place, const std::vector<std::string>& paths) {
  const Guard guard = lock();
  for (const std::string& path : paths) place->leaving.erase(path);
  drop_if_idle(*place);
}

const Reply* Places::removed(const Ptr& place, const std::vector<std::string>& paths,
                             std::int64_t session, const Answers& answers) {
  std::vector<std::string> gone;
  std::vector<std::string> there;
  const Reply* refused = nullptr;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Reply& reply = answers.replies[i];
    const bool is_gone = reply.code == Code::ok || reply.code == Code::no_node;
    (is_gone ? gone : there).push_back(paths[i]);
    if (!is_gone) refused = &reply;
  }
  left(place, gone);
  remove(place, there, session);
  return refused;
}

void Places::tell(const OwnerId& owner, const Wake& wake) const {
  for (const auto& each : watches_.find(owner)) (*each)(wake);
}

Wake Places::offer_of(Place& place) {
  Wake wake;
  wake.offer = Wake::Offer{place.fence, place.spare, place.slots};
  set_until(place, later(parts_.clock.now(), place.terms.confirm_within));
  place.stage = Stage::offered;  // now that there was memory for all of it
  unwatch(place);
  return wake;
}

// False if there was no memory for it.
bool Places::offer_into(std::vector<std::pair<OwnerId, Wake>>& offers, Place& place) {
  try {
    offers.emplace_back(place.terms.owner, offer_of(place));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Places::offer(const Ptr& place) {
  Wake wake;
  {
    const Guard guard = lock();
    wake = offer_of(*place);
  }
  tell(place->terms.owner, wake);
}

// ---- what happens ----

// Where nobody is to be told, the next question looks anyway.
void Places::fired(const std::string& path, Event event) {
  std::vector<std::pair<OwnerId, Wake>> offers;
  std::vector<Ptr> looks;
  transport::insist([&] {
    const Guard guard = lock();
    const auto interested = interested_.find(path);
    if (interested == interested_.end()) return;
    offers.reserve(interested->second.size());
    looks.reserve(interested->second.size());
    const auto found = interested_.extract(interested);  // from here on it is done once only
    parts_.watches.unwant(path);
    for (const Ptr& place : found.mapped()) {
      std::erase(place->watched, path);
      const bool is_free = std::exchange(place->is_next, false) && event == Event::deleted;
      if (place->busy) {
        place->fired = true;
      } else if (is_to_look(*place) && !(is_free && offer_into(offers, *place))) {
        looks.push_back(place);
      }
    }
  });
  for (const auto& each : offers) {
    transport::insist([&] { tell(each.first, each.second); });
  }
  for (const Ptr& place : looks) {
    try {
      run(place, parts_.look, lock());
    } catch (const std::bad_alloc&) {
      // It asks by itself in a while; the others have no part in it.
    }
  }
}

void Places::session_ended(std::int64_t session) {
  std::vector<Ptr> all;
  std::vector<OwnerId> concerned;
  transport::insist([&] {
    const Guard guard = lock();
    all.clear();
    concerned.clear();
    for (const auto& [key, place] : places_) {
      if (place->session != session) continue;
      all.push_back(place);
      const bool waits = place->stage == Stage::waiting || place->stage == Stage::offered;
      if (waits) concerned.push_back(place->terms.owner);
    }
    for (const Ptr& place : all) {  // which needs no memory any more
      forget_nodes(*place);
      place->leaving.clear();
      drop_if_idle(*place);
    }
  });
  // They have lost their places, and had better ask for others.
  for (const OwnerId& owner : concerned) {
    transport::insist([&] { tell(owner, {}); });
  }
}

// ---- the timer ----

void Places::arm(TimePoint when) {
  if (when >= timer_at_ || closed_) return;
  const TimerId id = parts_.loop.call_at(when, [timer = timer_] { timer->run(); });
  if (timer_at_ != kNever) parts_.loop.cancel(timer_id_);
  timer_at_ = when;
  timer_id_ = id;
}

// One whose turn it is looks at the time itself, and when it has left.
void Places::lapse() {
  struct Gone {
    Ptr place;
    std::vector<std::string> paths;
    std::int64_t session;
  };
  std::vector<Gone> gone;
  std::vector<Ptr> unclear;
  {
    const Guard guard = lock();
    if (timer_at_ != kNever)
      parts_.loop.cancel(timer_id_);  // another one, if this is done once more
    timer_at_ = kNever;
    const TimePoint now = parts_.clock.now();
    TimePoint next = kNever;
    for (const auto& [key, place] : places_) {
      if (place->busy) continue;
      if (place->until > now) {
        next = std::min(next, place->until);
      } else if (place->stage == Stage::unknown || !place->leaving.empty()) {
        unclear.push_back(place);
      } else {
        gone.push_back({place, condemn(*place), place->session});
      }
    }
    for (const Gone& each : gone) drop_if_idle(*each.place);  // one that had no nodes
    arm(next);
    if (places_.empty() && std::exchange(wanted_, false)) parts_.tree.keep_valid(false);
  }
  for (const Gone& each : gone) remove(each.place, each.paths, each.session);
  for (const Ptr& place : unclear) run(place, parts_.clear, lock());
}

}  // namespace holdfast::store::zookeeper
