#include "store/zookeeper/permit_attempt.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "rules/cell_entry.hpp"
#include "rules/objections.hpp"
#include "store/zookeeper/cell_text.hpp"
#include "store/zookeeper/failure.hpp"
#include "store/zookeeper/node_data.hpp"

namespace holdfast::store::zookeeper {
namespace {

constexpr std::size_t kQuestions = 4;

// A folder that is not there has nothing in it.
bool is_list(const Reply& reply) { return reply.code == Code::ok || reply.code == Code::no_node; }

std::vector<std::uint32_t> slots_in(const std::vector<std::string>& paths) {
  std::vector<std::uint32_t> slots;
  for (const std::string& path : paths) {
    if (const auto slot = parse_node(last_part_of(path)).slot) slots.push_back(*slot);
  }
  return slots;
}

// The first one has the record.
void sort_by_number(std::vector<std::string>& leases) {
  std::sort(leases.begin(), leases.end(), [](const std::string& a, const std::string& b) {
    return parse_node(last_part_of(a)).key < parse_node(last_part_of(b)).key;
  });
}

}  // namespace

PermitAttempt::PermitAttempt(Ground& ground, Places::Turn turn)
    : Attempt(ground, std::move(turn)),
      line_path_(ground.layout.line(Kind::semaphore, terms().name)),
      leases_path_(ground.layout.leases(terms().name)),
      cell_path_(ground.layout.cell({CellKind::size, terms().name})) {}

void PermitAttempt::start(Stage stage) {
  if (!is_asked()) return stage == Stage::waiting ? survey() : end_look();
  switch (stage) {
    case Stage::none:
      return create();
    case Stage::unknown:
      return search();
    case Stage::waiting:
      return survey();
    case Stage::offered:
    case Stage::held:
      return visit();
  }
}

std::vector<Request> PermitAttempt::questions() const {
  return {{.op = Op::get_children, .path = line_path_},
          {.op = Op::get_children, .path = leases_path_},
          {.op = Op::get_children, .path = ground_.layout.lock(terms().name)},
          {.op = Op::get_data, .path = cell_path_}};
}

// ---- nothing there ----

void PermitAttempt::create() {
  std::vector<Request> requests;
  if (needs_parents_) {
    for (std::string& each : path_and_parents(line_path_)) {
      requests.push_back({.op = Op::create_container, .path = std::move(each)});
    }
    requests.push_back({.op = Op::create_container, .path = leases_path_});
  }
  requests.push_back({.op = Op::create,
                      .path = in_line(line_node(terms())),
                      .data = data_text(),
                      .mode = Mode::ephemeral_sequential});
  for (Request& each : questions()) requests.push_back(std::move(each));
  doubt();
  ask(std::move(requests), &PermitAttempt::created);
}

void PermitAttempt::created(const Answers& answers) {
  const Reply& node = answers.replies[answers.replies.size() - kQuestions - 1];
  if (node.code != Code::ok) {
    has_none();
    if (node.code != Code::no_node) return silent(failure(node, line_path_));
    const auto parents = std::span(answers.replies).first(answers.replies.size() - kQuestions - 1);
    if (const Reply* const failed = failed_parent(parents)) {
      return silent(failure(*failed, line_path_));
    }
    needs_parents_ = true;
    return create();
  }
  stand(node.path, answers);
}

// The node in the line is ours and of this session, made just now or found again.
void PermitAttempt::stand(const std::string& node, const Answers& answers) {
  has_nodes(Stage::waiting, {node}, 0);
  if (lacks_number(node)) return turn_away(numbers_ran_out(line_path_));
  surveyed(answers);
}

// ---- may be there ----

void PermitAttempt::search() {
  ask({agreement(),
       {.op = Op::get_children, .path = line_path_},
       {.op = Op::get_children, .path = leases_path_}},
      &PermitAttempt::searched);
}

void PermitAttempt::searched(const Answers& answers) {
  const Reply& line = answers.replies[1];
  const Reply& leases = answers.replies[2];
  if (!is_list(line)) return silent(failure(line, line_path_));
  if (!is_list(leases)) return silent(failure(leases, leases_path_));
  const std::string mark = mark_of(terms().owner);
  const auto ours = [&](const Reply& list, const std::string& folder) {
    std::vector<std::string> paths;
    for (const std::string& name : list.children) {
      std::string path = folder + '/' + name;
      if (name.starts_with(mark) && !place_->leaving.contains(path)) {
        paths.push_back(std::move(path));
      }
    }
    return paths;
  };
  {
    const auto guard = ground_.places.lock();
    found_in_line_ = ours(line, line_path_);
    found_leases_ = ours(leases, leases_path_);
  }
  sort_by_number(found_leases_);
  std::vector<Request> requests;
  for (const auto* paths : {&found_leases_, &found_in_line_}) {
    for (const std::string& each : *paths) requests.push_back({.op = Op::exists, .path = each});
  }
  if (requests.empty()) {
    has_none();
    return create();
  }
  for (Request& each : questions()) requests.push_back(std::move(each));
  ask(std::move(requests), &PermitAttempt::identified);
}

void PermitAttempt::identified(const Answers& answers) {
  for (std::size_t i = 0; i < found_leases_.size() + found_in_line_.size(); ++i) {
    const Reply& each = answers.replies[i];
    if (is_refused(each)) return silent(failure(each, line_path_));
  }
  std::int64_t czxid = 0;  // of the first that is ours: another may be dying
  const auto of_this_session = [&](std::size_t first, const std::vector<std::string>& paths) {
    std::vector<std::string> ours;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const Reply& each = answers.replies[first + i];
      if (each.code == Code::ok && each.stat.ephemeral_owner == answers.session) {
        if (ours.empty()) czxid = each.stat.czxid;
        ours.push_back(paths[i]);
      }
    }
    return ours;
  };
  std::vector<std::string> leases = of_this_session(0, found_leases_);
  if (!leases.empty()) {
    const auto fence = ground_.fences.of(czxid);
    const bool whole = leases.size() == terms().shape.take;
    slots_ = slots_in(leases);
    const Reply& size = answers.replies.back();
    const Reply& taken = answers.replies[answers.replies.size() - kQuestions + 1];
    // In doubt until they are granted, which it may be too late for: the next time they are looked for again.
    has_nodes(Stage::unknown, std::move(leases), fence.value_or(0));
    if (is_refused(size)) return silent(failure(size, leases_path_));
    if (is_refused(taken)) return silent(failure(taken, leases_path_));
    // Another size may have been set before they were taken.
    if (!whole || is_too_many(taken.children.size(), size)) return start_over();
    {
      const auto guard = ground_.places.lock();
      place_->slots = slots_;
    }
    return fence ? grant() : turn_away(rules::fences_ran_out());
  }
  std::vector<std::string> in_line = of_this_session(found_leases_.size(), found_in_line_);
  if (in_line.empty()) {
    has_none();
    return create();
  }
  stand(in_line.front(), answers);
}

// ---- held ----

void PermitAttempt::visit() {
  std::vector<Request> requests{{.op = Op::sync, .path = leases_path_}};
  {
    const auto guard = ground_.places.lock();
    for (const std::string& each : place_->nodes) {
      requests.push_back({.op = Op::exists, .path = each});
    }
  }
  ask(std::move(requests), &PermitAttempt::visited);
}

void PermitAttempt::visited(const Answers& answers) {
  const auto refused = std::find_if(answers.replies.begin(), answers.replies.end(), is_refused);
  if (refused != answers.replies.end()) return silent(failure(*refused, leases_path_));
  const bool all_there = answers.replies.size() > 1 &&
                         std::all_of(answers.replies.begin() + 1, answers.replies.end(),
                                     [](const Reply& each) { return each.code == Code::ok; });
  if (!all_there) return start_over();
  bool same = false;
  bool revoked = false;
  std::vector<Request> reading;
  {
    const auto guard = ground_.places.lock();
    same = place_->knows(std::span(answers.replies).subspan(1));
    revoked = place_->revoked;
    for (const std::string& each : place_->nodes) {
      reading.push_back({.op = Op::get_data, .path = each});
    }
  }
  if (reading.empty()) return silent(session_may_be_over());
  if (!same) return ask(std::move(reading), &PermitAttempt::read_own);
  revoked ? refuse(0, 0, place_->fence) : grant();
}

// Somebody deleted one of them, or there are fewer by now: the others are of no use.
void PermitAttempt::start_over() {
  std::vector<std::string> rest;
  {
    const auto guard = ground_.places.lock();
    rest = ground_.places.condemn(*place_);
  }
  ground_.places.remove(place_, rest, session_);
  is_asked() ? create() : end_look(Wake{});
}

void PermitAttempt::read_own(const Answers& answers) {
  for (const Reply& each : answers.replies) {
    if (is_refused(each)) return silent(failure(each, leases_path_));
    if (each.code == Code::no_node) return start_over();
  }
  bool revoked = false;
  {
    const auto guard = ground_.places.lock();
    place_->learn(answers.replies);
    revoked = place_->revoked;
  }
  revoked ? refuse(0, 0, place_->fence) : grant();
}

// ---- waiting ----

void PermitAttempt::survey() {
  std::vector<Request> requests = questions();
  if (is_asked()) requests.insert(requests.begin(), {.op = Op::sync, .path = line_path_});
  ask(std::move(requests), &PermitAttempt::surveyed);
}

void PermitAttempt::surveyed(const Answers& answers) {
  const Reply* const last = &answers.replies.back() - (kQuestions - 1);
  judge(last[0], last[1], last[2], last[3]);
}

std::optional<std::uint32_t> PermitAttempt::size_in(const Reply& cell) const {
  if (cell.code != Code::ok) return std::nullopt;
  const auto stored = stored_cell_in(cell.data, cell.stat.mtime_ms);
  return stored ? rules::size_in(stored->state) : std::nullopt;
}

void PermitAttempt::judge(const Reply& line, const Reply& leases, const Reply& lock,
                          const Reply& size) {
  for (const Reply* each : {&line, &leases, &lock, &size}) {
    if (!is_list(*each)) return silent(failure(*each, line_path_));
  }
  line_.emplace(Kind::semaphore, line.children);
  permits_.emplace(leases.children);
  first_lease_ = leases.children.empty()
                     ? std::string()
                     : *std::min_element(leases.children.begin(), leases.children.end(),
                                         [](const std::string& a, const std::string& b) {
                                           return parse_node(a).key < parse_node(b).key;
                                         });
  size_ = size_in(size);
  size_version_.reset();
  if (size.code == Code::ok) size_version_ = size.stat.version;
  fence_counter_ = ground_.fences.up_to(size.zxid);
  if (!kinds_are_checked()) {
    if (const auto other = kind_in_use(lock.children)) return turn_away(rules::in_use_as(*other));
    has_checked_kinds();
  }
  judge_room();
}

std::optional<Rejected> PermitAttempt::objection() const {
  const Shape& asked = terms().shape;
  const std::uint32_t in_use =
      permits_->of.value_or(line_->empty() ? asked.of : line_->first().of.value_or(asked.of));
  if (!size_ && in_use != asked.of) return rules::other_size(in_use, asked);
  const std::uint32_t there_are = size_.value_or(in_use);
  if (asked.take > there_are) return rules::never_so_many(there_are, asked);
  return std::nullopt;
}

void PermitAttempt::judge_room() {
  const auto own = line_->find(last_part_of(own_node()));
  if (!own) {
    has_none();
    return is_asked() ? create() : silent(session_may_be_over());
  }
  if (auto no = objection()) return turn_away(*std::move(no));
  ahead_ = line_->ahead_of(*own);
  waiting_ = line_->waiting();
  const Shape& asked = terms().shape;
  const bool room = std::uint64_t{permits_->taken} + asked.take <= size_.value_or(asked.of);
  if (*own == 0 && room) return take();
  if (is_asked() && !terms().line_up) {
    Refused no;
    no.ahead = ahead_;
    no.waiting = waiting_ - 1;
    no.fence_counter = fence_counter_;
    return turn_away_behind(no, in_way());
  }
  {
    const auto guard = ground_.places.lock();
    place_->stage = Stage::waiting;
    if (is_asked()) ground_.places.set_until(*place_, later(asked_at_, terms().line_for));
  }
  return *own == 0 ? wait_for_permits() : wait_behind(*own);
}

std::string PermitAttempt::in_way() const {
  return first_lease_.empty() ? in_line(line_->first().name) : in_leases(first_lease_);
}

// ---- the first in the line ----

void PermitAttempt::take() {
  if (!is_asked() && !is_awaited()) return end_look();
  const std::string own = own_node();
  if (own.empty()) return silent(session_may_be_over());
  const Shape& shape = terms().shape;
  slots_ = permits_->free_slots(shape.take);
  std::vector<Request> requests;
  for (const std::uint32_t slot : slots_) {
    requests.push_back({.op = Op::create,
                        .path = in_leases(lease_node(terms().owner, shape.of, slot)),
                        .data = requests.empty() ? data_text() : std::string(),
                        .mode = Mode::ephemeral_sequential});
  }
  requests.push_back({.op = Op::remove, .path = own});
  if (size_version_) {  // another size may have been set since, and been answered
    requests.push_back({.op = Op::check, .path = cell_path_, .version = *size_version_});
  }
  doubt();
  ask_as_one(std::move(requests), &PermitAttempt::taken);
}

void PermitAttempt::taken(const Answers& answers) {
  const Reply& first = answers.replies.front();
  const Reply& left_line = answers.replies[slots_.size()];
  const bool done = std::all_of(answers.replies.begin(), answers.replies.end(),
                                [](const Reply& each) { return each.code == Code::ok; });
  if (done) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < slots_.size(); ++i) paths.push_back(answers.replies[i].path);
    const auto fence = ground_.fences.of(first.stat.czxid);
    // In doubt until the size is known and they are granted: if that fails they are looked for the next time.
    has_nodes(Stage::unknown, std::move(paths), fence.value_or(0));
    {
      const auto guard = ground_.places.lock();
      place_->slots = slots_;
    }
    if (!fence) return turn_away(rules::fences_ran_out());
    if (size_version_) return grant();
    return ask({{.op = Op::get_data, .path = cell_path_}}, &PermitAttempt::size_seen);
  }
  if (left_line.code == Code::no_node) {  // somebody deleted our node in the line
    has_none();
    return is_asked() ? create() : silent(session_may_be_over());
  }
  has_what_it_had();
  const Reply& size = answers.replies.back();
  const bool other_size =
      size_version_ && (size.code == Code::bad_version || size.code == Code::no_node);
  if (other_size) return survey();
  if (first.code == Code::no_node) {  // the folder was empty, and the server took it away
    return ask({{.op = Op::create_container, .path = leases_path_}}, &PermitAttempt::folder_made);
  }
  silent(failure(reason_in(answers), leases_path_));
}

// A size that nobody had set cannot be checked in the step that takes: there is no node whose version that would be.
// It is read behind that step, which shows whatever was set before. Nobody took any since, as we were the first.
void PermitAttempt::size_seen(const Answers& answers) {
  const Reply& size = answers.replies.front();
  if (is_refused(size)) return silent(failure(size, cell_path_));
  if (is_too_many(std::uint64_t{permits_->taken} + slots_.size(), size)) return start_over();
  grant();
}

bool PermitAttempt::is_too_many(std::uint64_t taken, const Reply& size) const {
  const auto there_are = size_in(size);
  return there_are && taken > *there_are;
}

void PermitAttempt::folder_made(const Answers& answers) {
  const Reply& made = answers.replies.front();
  if (made.code != Code::ok && made.code != Code::node_exists) {
    return silent(failure(made, leases_path_));
  }
  survey();
}

void PermitAttempt::wait_for_permits() {
  const std::vector<std::string> paths{leases_path_, cell_path_};
  bool is_watched = false;
  bool holder_known = false;
  {
    const auto guard = ground_.places.lock();
    is_watched = place_->watched == paths;
    holder_known = place_->holder.node == first_lease_;
  }
  if (is_watched && (holder_known || !is_asked())) return refuse_waiting();
  watch(paths);
  ask({{.op = Op::get_children, .path = leases_path_, .watch = true},
       {.op = Op::exists, .path = cell_path_, .watch = true},
       {.op = Op::get_data, .path = cell_path_},
       {.op = Op::get_data, .path = in_way()}},
      &PermitAttempt::waits_for_permits);
}

void PermitAttempt::waits_for_permits(const Answers& answers) {
  const Reply& leases = answers.replies[0];
  const Reply& cell = answers.replies[1];
  // First of all: a watch whose question was refused is none (silent() takes it back).
  if (is_refused(leases)) return silent(failure(leases, leases_path_));
  if (is_refused(cell)) return silent(failure(cell, cell_path_));
  const bool fired = watches();
  remember_holder(last_part_of(in_way()), answers.replies[3]);
  const Permits now(leases.children);
  const auto size = size_in(answers.replies[2]);
  if (!fired && now.taken == permits_->taken && size == size_) return refuse_waiting();
  if (fired) {
    const auto guard = ground_.places.lock();
    ground_.places.unwatch(*place_);
  }
  survey();
}

// ---- behind others ----

void PermitAttempt::wait_behind(std::size_t own) {
  const std::string target = in_line(line_->at(line_->waits_for(own)).name);
  bool is_watched = false;
  bool holder_known = false;
  {
    const auto guard = ground_.places.lock();
    is_watched = place_->watched == std::vector{target};
    holder_known = !first_lease_.empty() && place_->holder.node == first_lease_;
  }
  if (is_watched && (holder_known || !is_asked())) return refuse_waiting();
  watch({target});
  ask({{.op = Op::get_data, .path = target, .watch = true}, {.op = Op::get_data, .path = in_way()}},
      &PermitAttempt::waits_behind);
}

void PermitAttempt::waits_behind(const Answers& answers) {
  const Reply& target = answers.replies.front();
  if (is_refused(target)) return silent(failure(target, line_path_));
  const bool fired = watches();
  if (fired || target.code == Code::no_node) {
    {
      const auto guard = ground_.places.lock();
      ground_.places.unwatch(*place_);
    }
    return survey();
  }
  remember_holder(last_part_of(in_way()), answers.replies.back());
  refuse_waiting();
}

}  // namespace holdfast::store::zookeeper
