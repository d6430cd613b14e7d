#include "store/zookeeper/queue_attempt.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "rules/objections.hpp"
#include "store/zookeeper/failure.hpp"
#include "store/zookeeper/node_data.hpp"

namespace holdfast::store::zookeeper {
namespace {

// Where so many wait nobody reads all their names only to say how many there are: each of them asks every few seconds,
// and that would be more than a server can tell or we can hear.
constexpr std::uint32_t kLongLine = 100;

}  // namespace

QueueAttempt::QueueAttempt(Ground& ground, Places::Turn turn)
    : Attempt(ground, std::move(turn)), parent_(ground.layout.line(terms().kind, terms().name)) {}

// The question may never have been asked, or never been answered: there was no memory.
QueueAttempt::~QueueAttempt() {
  if (look_.watch != 0) QueueAttempt::give_up();
}

void QueueAttempt::give_up() { ground_.quiet.gave_up(parent_, std::exchange(look_, {})); }

void QueueAttempt::start(Stage stage) {
  if (!is_asked()) return stage == Stage::waiting ? list() : end_look();
  switch (stage) {
    case Stage::none:
      return is_exchange() ? exchange() : create();
    case Stage::unknown:
      return search();
    case Stage::waiting:
    case Stage::offered:
    case Stage::held:
      return visit();
  }
}

// ---- nothing there ----

void QueueAttempt::create() {
  std::vector<Request> requests;
  if (needs_parents_) {
    for (std::string& each : path_and_parents(parent_)) {
      requests.push_back({.op = Op::create_container, .path = std::move(each)});
    }
  }
  requests.push_back({.op = Op::create,
                      .path = path(line_node(terms())),
                      .data = data_text(),
                      .mode = Mode::ephemeral_sequential});
  look_ = ground_.quiet.next_look(parent_, ground_.tree.connection());
  if (look_.watch != 0) requests.push_back({.op = Op::exists, .path = parent_, .watch = true});
  if (look_.list) requests.push_back({.op = Op::get_children, .path = parent_});
  doubt();
  ask(std::move(requests), &QueueAttempt::created);
}

// Containers that nobody uses are taken away by the server, also between making them and using them.
void QueueAttempt::created(const Answers& answers) {
  const auto all = std::span(answers.replies);
  const QuietLines::Look look = std::exchange(look_, {});
  const std::size_t looks = (look.watch != 0 ? 1U : 0U) + (look.list ? 1U : 0U);
  const auto parents = all.first(all.size() - 1 - looks);
  const Reply& node = all[parents.size()];
  const bool watch_set = look.watch != 0 && all[parents.size() + 1].code == Code::ok;
  if (!watch_set) ground_.quiet.gave_up(parent_, look);
  if (node.code != Code::ok) {
    has_none();
    if (node.code != Code::no_node) return silent(failure(node, parent_));
    if (const Reply* const failed = failed_parent(parents)) {
      return silent(failure(*failed, parent_));
    }
    needs_parents_ = true;
    ground_.quiet.gone(parent_);
    return create();
  }
  if (auto no = adopt(node.path, node.stat.czxid)) return turn_away(*std::move(no));
  const QuietLines::Made made{
      .node = node.path, .connection = answers.connection, .session = answers.session};
  if (look.list) return read_behind(made, all.back(), look, watch_set);
  if (!ground_.quiet.is_alone(parent_, made)) return list_behind();
  has_checked_kinds();
  grant();
}

void QueueAttempt::list_behind() {
  ask({{.op = Op::get_children, .path = parent_}}, &QueueAttempt::listed_behind);
}

void QueueAttempt::listed_behind(const Answers& answers) {
  const std::string own = own_node();
  read_behind({.node = own, .connection = answers.connection, .session = answers.session},
              answers.replies.front(), {}, false);
}

void QueueAttempt::read_behind(const QuietLines::Made& made, const Reply& line,
                               const QuietLines::Look& look, bool watch_set) {
  const auto& names = line.children;
  const bool alone =
      line.code == Code::ok && names.size() == 1 && names[0] == last_part_of(made.node);
  ground_.quiet.was_read(parent_, made, look, {.alone = alone, .watch_set = watch_set});
  listed(line);
}

// The node is ours and of this session, made just now or found again. What it tells may forbid to use it.
std::optional<Rejected> QueueAttempt::adopt(const std::string& node, std::int64_t czxid) {
  auto fence = ground_.fences.of(czxid);
  if (is_exchange()) fence = ground_.fences.downgraded(terms().instead_of->fence);
  has_nodes(Stage::waiting, {node}, fence.value_or(0));
  if (!fence) return rules::fences_ran_out();
  if (lacks_number(node)) return numbers_ran_out(parent_);
  return std::nullopt;
}

// ---- may be there ----

// A server that is behind, or was deposed, might not show what was made already.
void QueueAttempt::search() {
  ask({agreement(), {.op = Op::get_children, .path = parent_}}, &QueueAttempt::searched);
}

void QueueAttempt::searched(const Answers& answers) {
  const Reply& children = answers.replies.back();
  found_.clear();
  if (children.code == Code::ok) {
    line_.emplace(terms().kind, children.children);
    const auto guard = ground_.places.lock();
    for (const std::string& name : line_->begin_with(mark_of(terms().owner))) {
      if (!place_->leaving.contains(path(name))) found_.push_back(path(name));
    }
  } else if (children.code != Code::no_node) {
    return silent(failure(children, parent_));
  }
  if (found_.empty()) {
    has_none();
    return start(Stage::none);
  }
  std::vector<Request> requests;
  for (const std::string& each : found_) requests.push_back({.op = Op::exists, .path = each});
  requests.push_back({.op = Op::get_children, .path = parent_});
  ask(std::move(requests), &QueueAttempt::identified);
}

// One of an older session is dying: it is in our way like anybody's, and not ours.
void QueueAttempt::identified(const Answers& answers) {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const Reply& each = answers.replies[i];
    if (is_refused(each)) return silent(failure(each, parent_));
    if (each.code != Code::ok || each.stat.ephemeral_owner != answers.session) continue;
    if (auto no = adopt(found_[i], each.stat.czxid)) return turn_away(*std::move(no));
    if (is_exchange()) writer_is_gone();
    return listed(answers);
  }
  has_none();
  start(Stage::none);
}

// ---- known ----

void QueueAttempt::visit() {
  const std::string own = own_node();
  if (own.empty()) return silent(session_may_be_over());
  std::string before;
  {
    const auto guard = ground_.places.lock();
    const Place& place = *place_;
    const bool waits = place.stage == Stage::waiting && place.watched.size() == 1;
    if (waits && place.waiting > kLongLine && !had_a_glance_) before = place.watched.front();
  }
  if (!before.empty()) return glance(own, before);
  ask({{.op = Op::sync, .path = parent_},
       {.op = Op::exists, .path = own},
       {.op = Op::get_children, .path = parent_}},
      &QueueAttempt::visited);
}

void QueueAttempt::visited(const Answers& answers) {
  const Reply& own = answers.replies[1];
  bool changed = false;
  {
    const auto guard = ground_.places.lock();
    changed = own.code == Code::ok && !place_->knows({&own, 1});
  }
  const std::string node = own_node();
  if (!changed || node.empty()) return listed(answers);
  ask({{.op = Op::get_data, .path = node}, {.op = Op::get_children, .path = parent_}},
      &QueueAttempt::read_own);
}

void QueueAttempt::read_own(const Answers& answers) {
  const Reply& own = answers.replies.front();
  bool gives_way = false;
  if (own.code == Code::ok) {
    const auto guard = ground_.places.lock();
    place_->learn({&own, 1});
    gives_way = place_->revoked && place_->stage == Stage::waiting;
  }
  gives_way ? stand_anew() : listed(answers);
}

// Who is revoked while it waits has nothing to keep: it would only be in the way of a lock that is free. It leaves its
// place, as it was asked to, and stands behind the others with a node that says nothing of that any more.
void QueueAttempt::stand_anew() {
  if (is_exchange()) return turn_away(rules::old_hold_is_revoked());
  std::vector<std::string> paths;
  {
    const auto guard = ground_.places.lock();
    paths = ground_.places.condemn(*place_);
  }
  ground_.places.remove(place_, paths, session_);
  create();
}

void QueueAttempt::glance(const std::string& own, const std::string& before) {
  had_a_glance_ = true;
  ask({{.op = Op::sync, .path = parent_},
       {.op = Op::exists, .path = own},
       {.op = Op::exists, .path = before},
       {.op = Op::exists, .path = parent_}},
      &QueueAttempt::glanced);
}

// As long as the one before us is there, it is not our turn. How many are ahead is what it was when we last read it.
void QueueAttempt::glanced(const Answers& answers) {
  const Reply& own = answers.replies[1];
  const Reply& before = answers.replies[2];
  const Reply& parent = answers.replies[3];
  bool waits = own.code == Code::ok && before.code == Code::ok && parent.code == Code::ok;
  {
    const auto guard = ground_.places.lock();
    Place& place = *place_;
    waits = waits && place.knows({&own, 1}) && !place.watched.empty() &&
            parent.stat.num_children > static_cast<std::int32_t>(kLongLine);
    if (waits) {
      ground_.places.set_until(place, later(asked_at_, terms().line_for));
      waiting_ = static_cast<std::uint32_t>(parent.stat.num_children) - 1;
      ahead_ = std::min(place.ahead, waiting_ - 1);
    }
  }
  waits ? refuse_waiting() : visit();
}

void QueueAttempt::list() {
  ask({{.op = Op::get_children, .path = parent_}}, &QueueAttempt::listed);
}

void QueueAttempt::listed(const Answers& answers) { listed(answers.replies.back()); }

void QueueAttempt::listed(const Reply& children) {
  if (children.code == Code::no_node) return judge(Line(terms().kind, {}));
  if (children.code != Code::ok) return silent(failure(children, parent_));
  judge(Line(terms().kind, children.children));
}

// ---- who is first ----

void QueueAttempt::judge(Line line) {
  const auto own = line.find(last_part_of(own_node()));
  if (!own) {  // somebody deleted it
    has_none();
    if (!is_asked()) return silent(session_may_be_over());
    return is_exchange() ? end(rules::old_hold_is_gone()) : create();
  }
  line_ = std::move(line);
  if (!kinds_are_checked()) {
    if (const auto other = line_->other_kind_before(*own)) {
      return turn_away(rules::in_use_as(*other));
    }
    if (line_->has_folders()) {
      const std::string lock = ground_.layout.lock(terms().name);
      return ask({{.op = Op::exists, .path = ground_.layout.line(Kind::semaphore, terms().name)},
                  {.op = Op::exists, .path = ground_.layout.leases(terms().name)},
                  {.op = Op::get_children, .path = lock}},
                 &QueueAttempt::folders_seen);
    }
    has_checked_kinds();
  }
  judge_place(*own);
}

void QueueAttempt::folders_seen(const Answers& answers) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Reply& folder = answers.replies[i];
    if (is_refused(folder)) return silent(failure(folder, parent_));
    if (folder.code == Code::ok && folder.stat.num_children > 0) {
      return turn_away(rules::in_use_as(Kind::semaphore));
    }
  }
  has_checked_kinds();
  listed(answers);
}

void QueueAttempt::judge_place(std::size_t own) {
  ahead_ = line_->ahead_of(own);
  waiting_ = line_->waiting();
  if (!line_->holds(own)) {
    if (!is_asked() || terms().line_up) return wait(own);
    Refused no;
    no.ahead = ahead_;
    no.waiting = waiting_ - 1;
    no.fence_counter = place_->fence - 1;
    return turn_away_behind(no, path(line_->first().name));
  }
  bool revoked = false;
  {
    const auto guard = ground_.places.lock();
    revoked = place_->revoked;
  }
  // It keeps what it has until that lapses, and gets no other place meanwhile.
  if (revoked) return refuse(0, waiting_, place_->fence);
  if (!is_asked() && !is_awaited()) return end_look();
  grant();
}

// ---- the line ----

void QueueAttempt::wait(std::size_t own) {
  const std::size_t before = line_->waits_for(own);
  const std::string target = path(line_->at(before).name);
  const bool is_next = terms().kind == Kind::mutex && before == 0;
  bool is_watched = false;
  bool holder_known = false;
  {
    const auto guard = ground_.places.lock();
    Place& place = *place_;
    place.stage = Stage::waiting;
    place.ahead = ahead_;
    place.waiting = waiting_;
    if (is_asked()) ground_.places.set_until(place, later(asked_at_, terms().line_for));
    is_watched = place.watched == std::vector{target};
    if (is_watched) place.is_next = is_next;
    holder_known = place.holder.node == line_->first().name;
  }
  if (is_watched && (holder_known || !is_asked())) return refuse_waiting();
  std::vector<Request> requests{{.op = Op::get_data, .path = target, .watch = true}};
  if (before > 0) requests.push_back({.op = Op::get_data, .path = path(line_->first().name)});
  watch({target}, is_next);
  ask(std::move(requests), &QueueAttempt::waits);
}

// Data are read, since a watch on what exists would stay if there were nothing.
void QueueAttempt::waits(const Answers& answers) {
  const Reply& target = answers.replies.front();
  // First of all: a watch whose question was refused is none (silent() takes it back).
  if (is_refused(target)) return silent(failure(target, parent_));
  const bool fired = watches();
  if (fired || target.code == Code::no_node) {
    {
      const auto guard = ground_.places.lock();
      ground_.places.unwatch(*place_);
    }
    return list();
  }
  remember_holder(line_->first().name, answers.replies.back());
  refuse_waiting();
}

void QueueAttempt::refuse_waiting() { refuse(ahead_, waiting_, place_->fence - 1); }

// ---- a writer's place ----

void QueueAttempt::exchange() {
  const HoldKey& old = *terms().instead_of;
  std::optional<Rejected> no;
  std::int32_t version = 0;
  {
    const auto guard = ground_.places.lock();
    const Places::Ptr writer = ground_.places.find(old);
    const bool there = writer && writer->is_hold_of(old) && writer->until > asked_at_ &&
                       writer->session == ground_.tree.session() && !writer->nodes.empty();
    if (!there) {
      no = rules::old_hold_is_gone();
    } else if (writer->revoked) {
      no = rules::old_hold_is_revoked();
    } else {
      writer_ = writer->nodes.front();
      version = writer->versions.front();
      session_ = writer->session;
    }
  }
  if (no) return end(*std::move(no));
  doubt();
  const std::uint64_t fence = ground_.fences.downgraded(old.fence);
  ask_as_one({{.op = Op::create,
               .path = path(reader_in_place_of(last_part_of(writer_), terms().owner)),
               .data = data_text(fence),
               .mode = Mode::ephemeral},
              {.op = Op::remove, .path = writer_, .version = version}},
             &QueueAttempt::exchanged);
}

void QueueAttempt::exchanged(const Answers& answers) {
  const Reply& made = answers.replies[0];
  const Reply& gone = answers.replies[1];
  if (made.code == Code::ok && gone.code == Code::ok) {
    adopt(path(reader_in_place_of(last_part_of(writer_), terms().owner)), made.stat.czxid);
    writer_is_gone();
    return grant();
  }
  has_none();
  if (gone.code == Code::bad_version) {
    return ask({{.op = Op::get_data, .path = writer_}}, &QueueAttempt::writer_read);
  }
  if (made.code == Code::node_exists) return search();
  if (made.code == Code::no_node || gone.code == Code::no_node) {
    return end(rules::old_hold_is_gone());
  }
  silent(failure(reason_in(answers), parent_));
}

void QueueAttempt::writer_read(const Answers& answers) {
  const Reply& data = answers.replies.front();
  if (data.code != Code::ok) return end(rules::old_hold_is_gone());
  {
    const auto guard = ground_.places.lock();
    if (const Places::Ptr writer = ground_.places.find(*terms().instead_of)) {
      writer->learn({&data, 1});
    }
  }
  exchange();
}

// Its node went when ours was made.
void QueueAttempt::writer_is_gone() {
  const auto guard = ground_.places.lock();
  const Places::Ptr writer = ground_.places.find(*terms().instead_of);
  if (!writer || !writer->is_hold_of(*terms().instead_of)) return;
  ground_.places.forget_nodes(*writer);
  ground_.places.drop_if_idle(*writer);
}

}  // namespace holdfast::store::zookeeper
