#include "actor.hpp"

#include <algorithm>
#include <functional>

#include "api/hold_state.hpp"
#include "checker/translate.hpp"
#include "runtime/fork_word.hpp"

namespace holdfast::sim {

namespace {

core::EngineSettings settings_for(const Plan& plan, std::uint32_t number,
                                  const store::Capabilities& can) {
  core::EngineSettings settings;
  settings.client = {plan.seed, number};
  settings.self.host = "host" + std::to_string(number);
  settings.self.pid = number;
  settings.self.program = "sim";
  settings.pace.answer_within = Duration(plan.answer_within);
  settings.pace.patience = Duration(plan.patience);
  settings.handoff_count = plan.handoff_count;
  settings.handoff_time = Duration(plan.handoff_time);
  settings.can = can;
  return settings;
}

}  // namespace

Actor::Actor(Stage& stage, std::uint32_t number, std::uint64_t seed)
    : stage_(stage),
      random_(seed),
      node_(number, make_clock(number)),
      clock_(stage.world, node_),
      loop_(stage.world, node_, random_),
      callbacks_(stage.world, node_, random_) {
  auto store =
      stage.server.connect({stage.world, node_, stage.plan, random_, stage.faults, stage.history});
  store_ = store.get();
  auto* const driver = new runtime::Driver(
      settings_for(stage.plan, number, stage.server.capabilities()),
      runtime::DriverParts{clock_, loop_, callbacks_, random_, std::move(store)});
  driver_ = std::shared_ptr<runtime::Driver>(driver, [](runtime::Driver* ended) {
    ended->shut_down(Duration::zero());
    delete ended;
  });
  client_ = std::make_shared<detail::ClientHandle>(driver_, runtime::ForkWord::enter(), "");
  node_.after_task = [this] {
    look_at_holds();
    look_for_ghosts();
  };
}

// Its rate, and how that changes in the course of the schedule.
SlewedClock Actor::make_clock(std::uint32_t number) {
  const Plan& plan = stage_.plan;
  const std::int64_t usual =
      plan.clock_ppm == 0 ? 0 : random_.between(-plan.clock_ppm, plan.clock_ppm);
  SlewedClock clock(millis(1000) * number, usual);
  for (const auto& [fault, limit] :
       {std::pair(Fault::slew, Plan::kSlewPpm), std::pair(Fault::bad_rate, Plan::kBadRatePpm)}) {
    const auto rate = static_cast<Time>(plan.likelihood(fault));
    if (rate == 0) continue;
    const auto pause = [&] { return random_.skewed(1, plan.longest_lease() * 200 / rate); };
    for (Time at = pause(); at < plan.faults_end; at += pause()) {
      const std::int64_t ppm = random_.between(-limit, limit);
      const std::uint64_t which = stage_.faults.next_number();
      if (which == 0) continue;
      clock.slew(at, ppm);
      stage_.world.at(at, [this, kind = fault, which] {
        stage_.faults.takes_place(which, kind, node_.number(), busy());
      });
    }
    if (fault == Fault::bad_rate) clock.slew(plan.faults_end, usual);
  }
  return clock;
}

// What is destroyed from here on is not seen by anybody: the schedule is over.
Actor::~Actor() {
  node_.kill();
  node_.after_task = {};
  driver_->shut_down(Duration::zero());
}

bool Actor::busy() const {
  return store_->has_open_calls() || std::any_of(visits_.begin(), visits_.end(),
                                                 [](const Visit& visit) { return !visit.hold; });
}

bool Actor::strikes(Fault fault) {
  if (stage_.world.now() >= stage_.plan.faults_end) return false;
  if (random_.below(1000) >= stage_.plan.likelihood(fault)) return false;
  return stage_.faults.strikes(fault, node_.number(), busy());
}

void Actor::start() {
  callers_left_ = static_cast<std::uint32_t>(random_.between(1, stage_.plan.callers));
  for (std::uint32_t i = 1; i <= callers_left_; ++i) next_round({node_.number(), i, 0});
}

void Actor::next_round(OpName op) {
  do {
    if (op.round == stage_.plan.rounds || closed_) {
      --callers_left_;
      return;
    }
    ++op.round;
  } while (!stage_.only.has(op));
  stage_.ops.push_back(op);
  begun_ = true;
  const Time pause = random_.skewed(0, stage_.plan.longest_lease() / 2);
  stage_.world.at(node_, stage_.world.now() + pause, [this, op] { acquire(op); });
}

void Actor::acquire(const OpName& op) {
  const Plan& plan = stage_.plan;
  const Time lease = plan.leases[random_.below(plan.leases.size())];
  AcquireOptions options;
  options.lease = Duration(lease);
  options.renew = random_.chance(85);
  options.order = random_.chance(plan.fifo_percent) ? Order::fifo : Order::any;
  if (random_.chance(10)) options.max_hold = Duration(random_.between(lease / 3, lease * 3));
  const auto kind = random_.below(10);
  if (kind < 2) options.wait = Duration::zero();
  if (kind >= 2 && kind < 5) options.wait = Duration(random_.between(millis(1), lease * 3));

  const detail::Wanted wanted = choose();
  const std::string name = "lock" + std::to_string(random_.below(plan.names));
  const VisitRef visit = begin(op, name, wanted, std::move(options));
  give_up_sometime(visit, lease);
  if (visit->pending) await(visit);
}

// What kind of hold to want. Mutexes take no chance: their schedules are what they always were.
detail::Wanted Actor::choose() {
  using store::Shape;
  const Plan& plan = stage_.plan;
  if (plan.locks == Plan::Locks::semaphores) {
    const auto take = static_cast<std::uint32_t>(random_.between(1, plan.permits));
    return {.kind = store::Kind::semaphore, .shape = Shape::permits(take, plan.permits)};
  }
  if (plan.locks == Plan::Locks::mutexes) return {};
  const auto chosen = random_.below(10);
  const Shape shape = chosen < 5 ? Shape::shared()
                      : chosen < 8 || !stage_.server.capabilities().upgradeable
                          ? Shape::exclusive()
                          : Shape::upgradeable();
  return {.kind = store::Kind::shared_mutex, .shape = shape};
}

// The name by value: it may come from a record, and records move when one is added.
Actor::VisitRef Actor::begin(const OpName& op, std::string name, const detail::Wanted& wanted,
                             AcquireOptions options) {
  visits_.emplace_back();
  const VisitRef visit = std::prev(visits_.end());
  visit->op = op;
  visit->record = stage_.history.acquires.size();
  visit->shape = wanted.shape;
  options.stop = visit->stop.get_token();
  const Time now = stage_.world.now();
  const TimePoint limit = later(node_.local(now), options.wait);
  stage_.history.acquires.push_back(
      {.client = node_.number(),
       .op = visit->record + 1,
       .name = name,
       .order = options.order == Order::fifo ? check::Order::fifo : check::Order::any,
       .invoked = now,
       .wait_limit = options.wait == kForever ? kNever : node_.true_time(limit),
       .mode = check::mode_of(wanted.shape),
       .take = wanted.shape.take,
       .of = wanted.shape.of});
  if (stage_.world.tracing()) {
    stage_.world.trace(who(), "acquires " + name + " as op " + std::to_string(visit->record + 1) +
                                  " (" + to_text(op) + ")");
  }
  visit->pending = detail::async_acquire(*client_, name, wanted, options);
  return visit;
}

void Actor::await(VisitRef visit) {
  auto pending = std::move(*visit->pending);
  visit->pending.reset();
  std::move(pending).then(
      [this, visit](Result<Hold> result) { acquired(visit, std::move(result)); });
}

// Wants another hold in the place of this one, which is let go if that fails.
void Actor::exchange(VisitRef old, const store::Shape& shape) {
  detail::Wanted wanted{.kind = store::Kind::shared_mutex, .shape = shape};
  wanted.instead_of = detail::HoldState::cell_of(*old->hold, *client_);
  AcquireOptions options;
  options.lease = Duration(stage_.plan.leases.front());
  options.renew = random_.chance(85);
  // Never for ever: its old hold may end meanwhile, and that is no fault of the store's.
  options.wait = Duration(random_.between(millis(1), stage_.plan.leases.front() * 3));
  const VisitRef visit = begin(old->op, record(*old).name, wanted, std::move(options));
  visit->instead_of = old->record;
  record(*visit).replaces = record(*old).op;
  look_at_holds();
  await(visit);
}

// Cancels through the stop token, or keeps the Pending and drops it.
void Actor::give_up_sometime(VisitRef visit, Time lease) {
  const Time when = stage_.world.now() + random_.skewed(0, lease * 2);
  const std::size_t id = visit->record;
  if (strikes(Fault::cancel)) {
    stage_.world.at(node_, when, [this, id] {
      for (Visit& each : visits_) {
        if (each.record == id && !each.hold) each.stop.request_stop();
      }
    });
    return;
  }
  if (!strikes(Fault::drop)) return;
  record(*visit).wait_limit = kNever;  // nobody looks whether it returned in time
  auto kept = std::make_shared<Pending<Hold>>(std::move(*visit->pending));
  visit->pending.reset();
  // The node holds it: a crash must not drop it as if the caller had.
  stage_.world.at(node_, when, [this, visit, kept] {
    check::Acquire& entry = record(*visit);
    entry.outcome = check::Outcome::cancelled;
    entry.returned = stage_.world.now();
    stage_.world.trace(who(), "drops op " + std::to_string(entry.op));
    { const Pending<Hold> dropped = std::move(*kept); }
    leave(visit);
  });
}

void Actor::acquired(VisitRef visit, Result<Hold> result) {
  check::Acquire& entry = record(*visit);
  entry.returned = stage_.world.now();
  look_at_holds();
  VisitRef old = visits_.end();
  if (visit->instead_of) {
    old = std::find_if(visits_.begin(), visits_.end(),
                       [&](const Visit& each) { return each.record == *visit->instead_of; });
  }
  if (!result) {
    entry.outcome = check::outcome_of(result.error().errc());
    if (stage_.world.tracing()) stage_.world.trace(who(), "got no lock: " + result.error().text());
    if (old == visits_.end()) return leave(visit);
    visits_.erase(visit);
    return let_go(old);
  }
  if (old != visits_.end()) {
    end_validity(*old, stage_.world.now());
    detail::HoldState::forget(*old->hold);
    visits_.erase(old);
  }
  entry.outcome = check::Outcome::granted;
  entry.fence = result->fence().value();
  visit->hold = std::move(*result);
  visit->valid_until = visit->hold->valid_until();
  if (stage_.world.tracing()) {
    stage_.world.trace(who(), "holds " + entry.name + " as op " + std::to_string(entry.op) +
                                  ", fence " + std::to_string(entry.fence) +
                                  (visit->hold->valid() ? "" : ", too late"));
  }
  if (!visit->hold->valid()) {
    end_validity(*visit, stage_.world.now());
    return let_go(visit);
  }
  use(visit);
}

// Reads the guarded values, works, writes them back plus one. Each message takes its time.
void Actor::use(VisitRef visit) {
  if (visit->shape != store::Shape::exclusive()) {  // looks, and lets go or wants more
    const Time work = random_.skewed(0, stage_.plan.longest_lease() * 3 / 2);
    stage_.world.at(node_, stage_.world.now() + work, [this, visit] {
      const bool more = visit->shape == store::Shape::upgradeable() && visit->hold->valid();
      if (!more || random_.chance(20)) return let_go(visit);
      exchange(visit, random_.chance(80) ? store::Shape::exclusive() : store::Shape::shared());
    });
    return;
  }
  const std::uint64_t fence = visit->hold->fence().value();
  const std::string name = record(*visit).name;
  stage_.world.at(stage_.world.now() + message(), [this, visit, fence, name] {
    const Resource::Values values = stage_.resource.read(node_.number(), name, fence);
    const Time work = random_.skewed(0, stage_.plan.longest_lease() * 3 / 2);
    stage_.world.at(node_, stage_.world.now() + message() + work, [this, visit, values] {
      visit->read = values;
      verify(visit);
    });
  });
}

// Some callers ask the store before they write.
void Actor::verify(VisitRef visit) {
  const std::uint32_t percent = stage_.plan.verify_percent;
  if (percent == 0 || !random_.chance(percent)) return write(visit);
  struct Sink final : runtime::VoidSink {
    explicit Sink(std::function<void(Result<void>)> tell_them) : tell(std::move(tell_them)) {}
    void finished(Result<void> result) override { tell(std::move(result)); }
    std::function<void(Result<void>)> tell;
  };
  check::History& history = stage_.history;
  const std::size_t number = history.verifications.size();
  history.verifications.push_back({.client = node_.number(),
                                   .name = record(*visit).name,
                                   .grant_fence = visit->hold->fence().value(),
                                   .invoked = stage_.world.now()});
  auto sink = std::make_shared<Sink>([this, visit, number](Result<void> result) {
    store_->verification_ends();
    check::Verification& entry = stage_.history.verifications[number];
    entry.returned = stage_.world.now();
    entry.confirmed = result.has_value();
    if (stage_.world.tracing()) {
      stage_.world.trace(who(), "verified op " + std::to_string(record(*visit).op) + ": " +
                                    (result ? "is there" : result.error().text()));
    }
    // The answer may come inside the call, and its caller goes on after that.
    callbacks_.post([this, visit] { write(visit); });
  });
  store_->verification_begins();
  driver_->verify(detail::HoldState::cell_of(*visit->hold, *client_), std::move(sink),
                  runtime::Asker::goes_on);
}

void Actor::write(VisitRef visit) {
  // Some callers look before they write, some do not; a paused one cannot.
  const bool careful = random_.chance(50);
  if (careful && !visit->hold->valid()) return let_go(visit);
  const Resource::Values values{false, visit->read.fenced + 1, visit->read.twin + 1};
  const std::uint64_t fence = visit->hold->fence().value();
  const Time sent = stage_.world.now() + message();
  stage_.world.at(sent, [this, name = record(*visit).name, fence, values] {
    stage_.resource.write(node_.number(), name, fence, values);
  });
  stage_.world.at(node_, sent + message(), [this, visit] {
    const bool shared = stage_.plan.locks == Plan::Locks::shared_mutexes;
    if (!shared || !visit->hold->valid() || random_.chance(60)) return let_go(visit);
    exchange(visit, store::Shape::shared());
  });
}

void Actor::let_go(VisitRef visit) {
  check::Acquire& entry = record(*visit);
  look_at_holds();
  entry.released = stage_.world.now();
  end_validity(*visit, stage_.world.now());
  if (stage_.world.tracing()) stage_.world.trace(who(), "releases op " + std::to_string(entry.op));
  visit->hold.reset();
  leave(visit);
}

void Actor::leave(VisitRef visit) {
  const OpName op = visit->op;
  visits_.erase(visit);
  next_round(op);
}

// valid() turns false by itself; this notices when.
void Actor::look_at_holds() {
  const Time now = stage_.world.now();
  for (Visit& visit : visits_) {
    if (!visit.hold) continue;
    const Time deadline = node_.true_time(visit.valid_until);
    const TimePoint until = visit.hold->valid_until();
    if (until <= node_.local(now)) {
      end_validity(visit, std::min(now, deadline));
    } else {
      visit.valid_until = until;
    }
  }
}

// A client that wants nothing, and has heard of everything it did, has left nothing in the store.
void Actor::look_for_ghosts() {
  if (!visits_.empty() || store_->messages_under_way() || !driver_->drained()) return;
  for (const check::Leftover& ghost : stage_.server.ghosts_of(node_.number())) {
    stage_.world.trace(who(), "left a ghost: claim " + std::to_string(ghost.owner));
    stage_.history.leftovers.push_back(ghost);
  }
}

void Actor::end_validity(Visit& visit, Time at) {
  check::Acquire& entry = record(visit);
  entry.valid_end = std::min({entry.valid_end, at, node_.true_time(visit.valid_until)});
  entry.valid_end = std::max(entry.valid_end, entry.returned);
}

void Actor::suspend(Time length) {
  pause(length);
  node_.asleep_for(length);
}

void Actor::step_wall(Time by) {
  node_.step_wall(by);
  store_->wall_stepped();
}

void Actor::pause(Time length) {
  node_.pause_until(stage_.world.now() + length);
  for (const Visit& visit : visits_) {
    check::Acquire& entry = record(visit);
    const bool waits = entry.outcome == check::Outcome::pending;
    if (waits && entry.wait_limit != kNever && entry.wait_limit < node_.paused_until()) {
      entry.wait_limit = std::max(entry.wait_limit, node_.paused_until());
    }
  }
  if (stage_.world.tracing()) stage_.world.trace(who(), "is paused");
}

// By the program itself, so not while it stands still.
void Actor::close() {
  stage_.world.at(node_, stage_.world.now(), [this] {
    closed_ = true;
    stage_.world.trace(who(), "is closed");
    driver_->close();
  });
}

void Actor::crash() {
  look_at_holds();
  for (Visit& visit : visits_) {
    record(visit).crashed = true;
    if (visit.hold) end_validity(visit, stage_.world.now());
  }
  node_.kill();
  if (stage_.world.tracing()) stage_.world.trace(who(), "crashes");
}

void Actor::fill_in(check::Acquire& entry) const {
  if (entry.outcome != check::Outcome::granted) return;
  const auto* const found = stage_.server.grant_of(entry.fence);
  if (found == nullptr) return;
  const auto& [fence, grant] = *found;
  entry.grant_fence = fence;
  entry.spare = grant.spare;
  entry.owner = grant.claim;
  entry.lined_up = store_->lined_up(grant.claim);
  entry.lost_place = stage_.server.lost_place({{stage_.plan.seed, entry.client}, grant.claim});
  if (entry.fence == fence) {
    entry.sent = store_->grant_sent(fence);
    entry.lease_ns = store_->grant_lease_ns(fence);
    entry.store_granted = grant.at;
  }
}

}  // namespace holdfast::sim
