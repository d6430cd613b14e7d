#include "support/zookeeper/memory_tree.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <utility>

namespace holdfast::test {

using namespace zk;
using store::NoAnswer;

namespace {

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Reply failed(Code code) {
  Reply reply;
  reply.code = code;
  reply.raw = code == Code::ok ? 0 : -100 - static_cast<std::int32_t>(code);
  return reply;
}

bool is_path(const std::string& path) {
  if (path == "/") return true;
  if (path.empty() || path[0] != '/' || path.back() == '/') return false;
  if (path.find("//") != std::string::npos || path.find('\0') != std::string::npos) return false;
  std::string rest = path + '/';
  return rest.find("/./") == std::string::npos && rest.find("/../") == std::string::npos;
}

}  // namespace

// ---- the ensemble ----

std::vector<std::string> MemoryEnsemble::children(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return {};
  return {found->second.children.begin(), found->second.children.end()};
}

std::optional<std::string> MemoryEnsemble::data(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return std::nullopt;
  return found->second.data;
}

std::optional<Stat> MemoryEnsemble::stat(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return std::nullopt;
  return found->second.stat;
}

std::size_t MemoryEnsemble::watches() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto* each : {&data_watches_, &child_watches_}) {
    for (const auto& [path, watchers] : *each) count += watchers.size();
  }
  return count;
}

std::size_t MemoryEnsemble::wanted_watches() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto* each : {&data_watches_, &child_watches_}) {
    for (const auto& [path, watchers] : *each) count += wanted(watchers);
  }
  return count;
}

std::size_t MemoryEnsemble::wanted_watches_of(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto* each : {&data_watches_, &child_watches_}) {
    if (const auto found = each->find(path); found != each->end()) count += wanted(found->second);
  }
  return count;
}

std::size_t MemoryEnsemble::wanted(const Watchers& watchers) {
  return static_cast<std::size_t>(std::count_if(
      watchers.begin(), watchers.end(), [](const auto& watcher) { return watcher.second; }));
}

Reply MemoryEnsemble::do_it(const Request& request, std::int64_t session) {
  Tolds told;
  Reply reply;
  {
    const std::lock_guard lock(mutex_);
    reply = execute(request, session, ++zxid_, nullptr, told);
  }
  tell(told);
  return reply;
}

void MemoryEnsemble::reap() {
  Tolds told;
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> empty;
    for (const auto& [path, node] : nodes_) {
      if (node.container && node.had_children && node.children.empty()) empty.push_back(path);
    }
    for (const std::string& path : empty) {
      remove({.op = Op::remove, .path = path}, ++zxid_, told);
    }
  }
  tell(told);
}

std::int32_t MemoryEnsemble::created(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return nodes_.at(path).created;
}

void MemoryEnsemble::set_created(const std::string& path, std::int32_t children) {
  const std::lock_guard lock(mutex_);
  nodes_.at(path).created = children;
}

void MemoryEnsemble::tell(const Tolds& told) {
  for (const Told& each : told) {
    if (auto* const listener = each.tree->listener_.load()) listener->fired(each.path, each.event);
  }
}

void MemoryEnsemble::fire(Watches& watches, const std::string& path, Event event, Tolds& told) {
  const auto found = watches.extract(path);
  if (!found) return;
  for (const auto& [tree, wants] : found.mapped()) {
    if (wants) told.push_back({tree, path, event});
  }
}

Reply MemoryEnsemble::create(const Request& request, std::int64_t session, std::int64_t zxid,
                             Tolds& told) {
  const auto parent = nodes_.find(parent_of(request.path));
  if (parent == nodes_.end()) return failed(Code::no_node);
  if (parent->second.stat.ephemeral_owner != 0) return failed(Code::no_children_for_ephemerals);
  std::string path = request.path;
  if (request.op == Op::create && request.mode == Mode::ephemeral_sequential) {
    char number[16];
    std::snprintf(number, sizeof number, "%010d", parent->second.created);
    path += number;
  }
  if (!is_path(path)) return failed(Code::other);
  if (nodes_.contains(path)) return failed(Code::node_exists);
  Node node;
  node.data = request.data;
  node.container = request.op == Op::create_container;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall_now().time_since_epoch());
  node.stat.czxid = node.stat.mzxid = node.stat.pzxid = zxid;
  node.stat.ctime_ms = node.stat.mtime_ms = now.count();
  const bool lasts = node.container || request.mode == Mode::persistent;
  node.stat.ephemeral_owner = lasts ? 0 : session;
  node.stat.data_length = static_cast<std::int32_t>(request.data.size());
  Reply reply;
  reply.path = path;
  reply.stat = node.stat;
  std::set<std::string> child{name_of(path)};
  nodes_.emplace(path, std::move(node));
  // Nothing is half done if this client's process lacks memory: what follows needs none.
  // A server's counter stays where it cannot grow.
  if (parent->second.created < std::numeric_limits<std::int32_t>::max()) ++parent->second.created;
  parent->second.had_children = true;
  parent->second.children.merge(child);
  parent->second.stat.num_children = static_cast<std::int32_t>(parent->second.children.size());
  parent->second.stat.pzxid = zxid;
  ++parent->second.stat.cversion;
  fire(data_watches_, path, Event::created, told);
  fire(child_watches_, parent_of(path), Event::children_changed, told);
  return reply;
}

Reply MemoryEnsemble::remove(const Request& request, std::int64_t zxid, Tolds& told) {
  const auto found = nodes_.find(request.path);
  if (found == nodes_.end()) return failed(Code::no_node);
  const bool other = request.version != -1 && request.version != found->second.stat.version;
  if (other) return failed(Code::bad_version);
  if (!found->second.children.empty()) return failed(Code::not_empty);
  const std::string name = name_of(request.path);
  Node& parent = nodes_.at(parent_of(request.path));
  nodes_.erase(found);
  parent.children.erase(name);
  parent.stat.num_children = static_cast<std::int32_t>(parent.children.size());
  parent.stat.pzxid = zxid;
  ++parent.stat.cversion;
  fire(data_watches_, request.path, Event::deleted, told);
  fire(child_watches_, request.path, Event::deleted, told);
  fire(child_watches_, parent_of(request.path), Event::children_changed, told);
  return {};
}

Reply MemoryEnsemble::execute(const Request& request, std::int64_t session, std::int64_t zxid,
                              MemoryTree* asker, Tolds& told) {
  if (!is_path(request.path)) return failed(Code::other);
  if (request.op == Op::create || request.op == Op::create_container) {
    return create(request, session, zxid, told);
  }
  if (request.op == Op::remove) return remove(request, zxid, told);
  if (request.op == Op::sync) return {};
  const auto found = nodes_.find(request.path);
  const bool there = found != nodes_.end();
  if (request.watch && asker != nullptr && (there || request.op == Op::exists)) {
    auto& watches = request.op == Op::get_children ? child_watches_ : data_watches_;
    watches[request.path][asker] = true;
  }
  if (!there) return failed(Code::no_node);
  Node& node = found->second;
  const bool other = request.version != -1 && request.version != node.stat.version;
  Reply reply;
  if (request.op == Op::get_data) reply.data = node.data;
  if (request.op == Op::get_children) {
    ++listings_;
    reply.children = {node.children.begin(), node.children.end()};
  }
  if ((request.op == Op::check || request.op == Op::set_data) && other) {
    return failed(Code::bad_version);
  }
  if (request.op == Op::set_data) {
    node.data = request.data;
    ++node.stat.version;
    node.stat.mzxid = zxid;
    node.stat.data_length = static_cast<std::int32_t>(request.data.size());
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall_now().time_since_epoch());
    node.stat.mtime_ms = now.count();
    fire(data_watches_, request.path, Event::data_changed, told);
  }
  reply.stat = node.stat;
  return reply;
}

std::vector<Reply> MemoryEnsemble::execute(const std::vector<Request>& requests,
                                           std::int64_t session, MemoryTree* asker, Tolds& told) {
  std::vector<Reply> replies;
  for (const Request& each : requests) {
    const auto refused = asker->refusal_of(each.op);
    replies.push_back(refused ? failed(*refused) : execute(each, session, ++zxid_, asker, told));
    replies.back().zxid = zxid_;
  }
  return replies;
}

std::vector<Reply> MemoryEnsemble::execute_as_one(const std::vector<Request>& requests,
                                                  std::int64_t session, MemoryTree* asker,
                                                  Tolds& told) {
  const auto nodes = nodes_;
  const auto data_watches = data_watches_;
  const auto child_watches = child_watches_;
  const std::int64_t zxid = ++zxid_;
  std::vector<Reply> replies;
  for (const Request& each : requests) {
    const auto refused = asker->refusal_of(each.op);
    replies.push_back(refused ? failed(*refused) : execute(each, session, zxid, nullptr, told));
    replies.back().zxid = zxid;
    if (replies.back().code == Code::ok) continue;
    for (std::size_t i = 0; i + 1 < replies.size(); ++i) replies[i] = failed(Code::other);
    replies.resize(requests.size(), failed(Code::other));
    told.clear();
    nodes_ = nodes;
    data_watches_ = data_watches;
    child_watches_ = child_watches;
    break;
  }
  return replies;
}

void MemoryEnsemble::end_session(std::int64_t session, Tolds& told) {
  std::vector<std::string> paths;
  for (const auto& [path, node] : nodes_) {
    if (node.stat.ephemeral_owner == session) paths.push_back(path);
  }
  const std::int64_t zxid = ++zxid_;
  for (const std::string& path : paths) remove({.op = Op::remove, .path = path}, zxid, told);
}

void MemoryEnsemble::forget(MemoryTree* tree) {
  for (auto* watches : {&data_watches_, &child_watches_}) {
    for (auto at = watches->begin(); at != watches->end();) {
      at->second.erase(tree);
      at = at->second.empty() ? watches->erase(at) : std::next(at);
    }
  }
}

// ---- one client ----

MemoryTree::MemoryTree(std::shared_ptr<MemoryEnsemble> all, const store::Clock& clock,
                       Duration timeout)
    : all_(std::move(all)), clock_(clock), timeout_(timeout), valid_for_(timeout) {
  begin_session();
}

MemoryTree::~MemoryTree() { close(); }

void MemoryTree::begin_session() {
  const std::lock_guard lock(all_->mutex_);
  session_ = ++all_->sessions_;
}

void MemoryTree::listen(Listener& listener) { listener_ = &listener; }

Wire MemoryTree::wire() const {
  const std::lock_guard lock(mutex_);
  return wire_;
}

void MemoryTree::set(Wire wire) {
  {
    const std::lock_guard lock(mutex_);
    wire_ = wire;
    if (wire != Wire::held && wire != Wire::up) ++connection_;
  }
  if (wire == Wire::up || wire == Wire::deaf) remove_now();
}

std::size_t MemoryTree::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

bool MemoryTree::let_one_go() {
  Task task;
  {
    const std::lock_guard lock(mutex_);
    if (held_.empty()) return false;
    task = std::move(held_.front());
    held_.pop_front();
  }
  task();
  return true;
}

std::size_t MemoryTree::let_go() {
  std::size_t count = 0;
  while (let_one_go()) ++count;
  return count;
}

void MemoryTree::forget_held() {
  std::deque<Task> forgotten;  // which may ask for more when they end
  const std::lock_guard lock(mutex_);
  forgotten.swap(held_);
}

void MemoryTree::remember_listing(const std::string& path) {
  std::vector<std::string> children = all_->children(path);
  const std::lock_guard lock(mutex_);
  old_listings_[path] = std::move(children);
}

void MemoryTree::refuse_next(Op op, Code code) {
  const std::lock_guard lock(mutex_);
  refused_[op] = code;
}

std::optional<Code> MemoryTree::refusal_of(Op op) {
  const std::lock_guard lock(mutex_);
  const auto found = refused_.extract(op);
  if (!found) return std::nullopt;
  return found.mapped();
}

void MemoryTree::ask(std::vector<Request> requests, TimePoint, bool, std::int64_t only_in,
                     std::function<void(zk::Outcome)> done) {
  put(std::move(requests), false, only_in, done);
}

void MemoryTree::ask_as_one(std::vector<Request> requests, TimePoint, bool, std::int64_t only_in,
                            std::function<void(zk::Outcome)> done) {
  put(std::move(requests), true, only_in, done);
}

void MemoryTree::put(std::vector<Request> requests, bool as_one, std::int64_t only_in,
                     const std::function<void(zk::Outcome)>& done) {
  ++questions_;
  Wire wire{};
  bool closed = false;
  {
    const std::lock_guard lock(mutex_);
    wire = wire_;
    closed = closed_;
    if (wire == Wire::held && !closed) {
      held_.emplace_back([this, requests = std::move(requests), as_one, only_in, done] {
        run(requests, as_one, !lose_next_.exchange(false), only_in, done);
      });
      return;
    }
  }
  if (closed || wire == Wire::lost) {
    return done(NoAnswer{.executed = false, .text = "the question was lost"});
  }
  if (wire == Wire::silent) return done(NoAnswer{.text = "no answer came"});
  run(requests, as_one, wire == Wire::up, only_in, done);
}

void MemoryTree::run(const std::vector<Request>& requests, bool as_one, bool heard,
                     std::int64_t only_in, const std::function<void(zk::Outcome)>& done) {
  MemoryEnsemble::Tolds told;
  Answers answers;
  {
    std::map<std::string, std::vector<std::string>> old;
    const bool synced = std::any_of(requests.begin(), requests.end(), [](const Request& each) {
      return each.op == Op::sync || each.op == Op::check;
    });
    {
      const std::lock_guard lock(mutex_);
      if (synced) old_listings_.clear();
      old.swap(old_listings_);
    }
    const std::lock_guard lock(all_->mutex_);
    answers.session = session_;
    answers.connection = connection_;
    const bool other = only_in != 0 && only_in != answers.session;
    if (!other && answers.session != 0) {
      answers.replies = as_one ? all_->execute_as_one(requests, answers.session, this, told)
                               : all_->execute(requests, answers.session, this, told);
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto found = old.find(requests[i].path);
        if (requests[i].op == Op::get_children && found != old.end()) {
          answers.replies[i].children = found->second;
        }
      }
    }
  }
  MemoryEnsemble::tell(told);
  if (answers.replies.empty()) {
    return done(NoAnswer{.executed = false, .text = "it is another session"});
  }
  if (!heard) return done(NoAnswer{.text = "the answer was lost"});
  done(std::move(answers));
}

void MemoryTree::remove_for_sure(std::string path, std::int64_t session,
                                 std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    removals_.push_back({std::move(path), session, std::move(done)});
    if (closed_ || (wire_ != Wire::up && wire_ != Wire::deaf)) return;
  }
  remove_now();
}

void MemoryTree::remove_now() {
  std::vector<Removal> removals;
  {
    const std::lock_guard lock(mutex_);
    removals.swap(removals_);
  }
  for (const Removal& each : removals) {
    MemoryEnsemble::Tolds told;
    {
      const std::lock_guard lock(all_->mutex_);
      if (each.session == session_) {
        all_->remove({.op = Op::remove, .path = each.path}, ++all_->zxid_, told);
      }
    }
    MemoryEnsemble::tell(told);
    if (each.done) each.done();
  }
}

void MemoryTree::leave_watch(const std::string& path) {
  const std::lock_guard lock(all_->mutex_);
  for (auto* watches : {&all_->data_watches_, &all_->child_watches_}) {
    const auto found = watches->find(path);
    if (found == watches->end()) continue;
    if (const auto own = found->second.find(this); own != found->second.end()) own->second = false;
  }
}

void MemoryTree::expire() { end_session(true); }

void MemoryTree::expire_here_only() { end_session(false); }

// As with servers, there is neither another session nor another connection when the end is told.
void MemoryTree::end_session(bool everywhere) {
  MemoryEnsemble::Tolds told;
  std::int64_t old = 0;
  {
    const std::lock_guard lock(all_->mutex_);
    old = session_.exchange(0);
    all_->forget(this);
    if (everywhere) all_->end_session(old, told);
  }
  MemoryEnsemble::tell(told);
  remove_now();
  if (auto* const listener = listener_.load()) listener->session_ended(old);
  const std::lock_guard lock(all_->mutex_);
  session_ = ++all_->sessions_;
  ++connection_;
}

void MemoryTree::close() {
  std::deque<Task> held;
  std::vector<Removal> removals;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    held.swap(held_);
    removals.swap(removals_);
  }
  MemoryEnsemble::Tolds told;
  {
    const std::lock_guard lock(all_->mutex_);
    all_->forget(this);
    all_->end_session(session_, told);
    session_ = 0;
  }
  listener_ = nullptr;
  MemoryEnsemble::tell(told);
  for (Task& each : held) each();  // the session is over: NoAnswer
}

}  // namespace holdfast::test
