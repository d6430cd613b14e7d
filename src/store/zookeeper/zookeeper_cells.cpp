#include "store/zookeeper/zookeeper_cells.hpp"

#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "rules/cell_entry.hpp"
#include "store/zookeeper/cell_text.hpp"
#include "store/zookeeper/failure.hpp"

namespace holdfast::store::zookeeper {
namespace {

constexpr int kMostRounds = 100;
// The server's limit is 1 MiB for a whole message, unless it was set to less.
constexpr std::size_t kMostBytes = 900 * 1024;

NoAnswer damaged(const std::string& path) {
  return {
      Errc::store_corrupt, false,
      "what stands in " + printable(path) + " is no cell; delete the node, and its value with it"};
}

NoAnswer too_many_clients() {
  return {Errc::store_full, false, "more clients changed this cell of late than one node can tell"};
}

NoAnswer changes_too_fast() {
  return {Errc::unavailable, false, "others changed the cell faster than we could"};
}

// A cell that is not there was never written.
std::variant<NoAnswer, StoredCell> cell_in(const Reply& reply, const std::string& path) {
  if (reply.code == Code::no_node) return StoredCell();
  if (reply.code != Code::ok) return failure(reply, path);
  auto cell = stored_cell_in(reply.data, reply.stat.mtime_ms);
  if (!cell) return damaged(path);
  return *std::move(cell);
}

CellReply apply(rules::CellEntry& entry, const CellWrite& ask) { return entry.write(ask, {}); }
CellReply apply(rules::CellEntry& entry, const CellAdd& ask) { return entry.add(ask, {}); }

// One write or add.
template <class Ask>
class Change : public std::enable_shared_from_this<Change<Ask>> {
 public:
  Change(Ground& ground, Ask ask, Call<CellReply> call)
      : ground_(ground),
        ask_(std::move(ask)),
        call_(std::move(call)),
        path_(ground.layout.cell(ask_.key)) {}

  // Also what is only read has to be the newest: a conflict is answered from it.
  void begin() {
    if (++rounds_ > kMostRounds || (rounds_ > 1 && ground_.clock.now() >= call_.deadline())) {
      return call_.answer(changes_too_fast());
    }
    ask({{.op = Op::sync, .path = path_}, {.op = Op::get_data, .path = path_}}, &Change::read);
  }

 private:
  void ask(std::vector<Request> requests, void (Change::*then)(const Answers&)) {
    auto self = this->shared_from_this();
    ground_.tree.ask(std::move(requests), call_.deadline(), call_.may_block(), 0,
                     [self, then](const Outcome& outcome) {
                       if (const auto* none = std::get_if<NoAnswer>(&outcome)) {
                         return self->silent(*none, then);
                       }
                       ((*self).*then)(std::get<Answers>(outcome));
                     });
  }

  // Reading does nothing to the cell.
  void silent(NoAnswer none, void (Change::*then)(const Answers&)) {
    if (then == &Change::read) none.executed = false;
    call_.answer(std::move(none));
  }

  void read(const Answers& answers) {
    const Reply& node = answers.replies.back();
    auto found = cell_in(node, path_);
    if (auto* none = std::get_if<NoAnswer>(&found)) return call_.answer(std::move(*none));
    StoredCell cell = std::get<StoredCell>(std::move(found));
    rules::CellEntry entry{cell.state, cell.ops[ask_.op.client]};
    const rules::DoneOp before = entry.last;
    reply_ = apply(entry, ask_);
    if (entry.last == before) return call_.answer(std::move(reply_));
    cell.state = std::move(entry.state);
    cell.ops[ask_.op.client] = entry.last;
    write(cell, node);
  }

  void write(StoredCell& cell, const Reply& node) {
    // The one just done has no time yet, and stays.
    const auto done = cell.ops.extract(ask_.op.client);
    forget_old(cell, node.stat.mtime_ms);
    cell.ops[ask_.op.client] = done.mapped();
    std::string text = text_of(cell);
    if (text.size() > kMostBytes) return call_.answer(too_many_clients());
    if (node.code == Code::ok) {
      return ask({{.op = Op::set_data,
                   .path = path_,
                   .data = std::move(text),
                   .version = node.stat.version}},
                 &Change::written);
    }
    std::vector<Request> requests;
    for (const std::string& each : path_and_parents(parent_of(path_))) {
      const bool ours = each.size() > ground_.layout.base().size();
      requests.push_back({.op = ours ? Op::create : Op::create_container, .path = each});
    }
    requests.push_back({.op = Op::create, .path = path_, .data = std::move(text)});
    ask(std::move(requests), &Change::written);
  }

  void written(const Answers& answers) {
    const Reply& node = answers.replies.back();
    switch (node.code) {
      case Code::ok:
        return call_.answer(std::move(reply_));
      case Code::bad_version:
      case Code::node_exists:
        return begin();
      case Code::no_node:
        // Deleted since, or there is a folder above that cannot be made.
        for (const Reply& each : answers.replies) {
          const bool made = each.code == Code::ok || each.code == Code::node_exists;
          if (!made && each.code != Code::no_node) return call_.answer(failure(each, path_));
        }
        return begin();
      default:
        return call_.answer(failure(node, path_));
    }
  }

  Ground& ground_;
  const Ask ask_;
  Call<CellReply> call_;
  const std::string path_;
  CellReply reply_;
  int rounds_ = 0;
};

}  // namespace

class ZookeeperCells::Subscription final : public Watch {
 public:
  Subscription(std::shared_ptr<State> state, WantedWatches& wanted, std::string path,
               std::uint64_t number)
      : state_(std::move(state)), wanted_(wanted), path_(std::move(path)), number_(number) {}

  ~Subscription() override {
    Function ended;  // destroyed without the mutex: it may own anything
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->by_path.find(path_);
    if (found == state_->by_path.end()) return;
    if (auto entry = found->second.told.extract(number_)) ended = std::move(entry.mapped());
    if (!found->second.told.empty()) return;
    if (found->second.is_set && !state_->closed) wanted_.unwant(path_);
    state_->by_path.erase(found);
  }

 private:
  const std::shared_ptr<State> state_;
  WantedWatches& wanted_;  // gone when the state is closed
  const std::string path_;
  const std::uint64_t number_;
};

void ZookeeperCells::read(const CellKey& key, Call<CellReply> call) {
  if (auto no = rules::objection(key)) return call.answer(*std::move(no));
  const std::string path = ground_.layout.cell(key);
  set_watch(path, Tell::when_set);
  auto shared = std::make_shared<Call<CellReply>>(std::move(call));
  ground_.tree.ask({{.op = Op::sync, .path = path}, {.op = Op::get_data, .path = path}},
                   shared->deadline(), shared->may_block(), 0,
                   [shared, path](const Outcome& outcome) {
                     if (const auto* none = std::get_if<NoAnswer>(&outcome)) {
                       return shared->answer(*none);
                     }
                     auto found = cell_in(std::get<Answers>(outcome).replies.back(), path);
                     if (auto* none = std::get_if<NoAnswer>(&found)) {
                       return shared->answer(std::move(*none));
                     }
                     shared->answer(std::get<StoredCell>(std::move(found)).state);
                   });
}

void ZookeeperCells::write(const CellWrite& ask, Call<CellReply> call) {
  if (auto no = rules::objection(ask)) return call.answer(*std::move(no));
  std::make_shared<Change<CellWrite>>(ground_, ask, std::move(call))->begin();
}

void ZookeeperCells::add(const CellAdd& ask, Call<CellReply> call) {
  if (auto no = rules::objection(ask)) return call.answer(*std::move(no));
  std::make_shared<Change<CellAdd>>(ground_, ask, std::move(call))->begin();
}

// ---- watches ----

WatchPtr ZookeeperCells::watch(const CellKey& key, CellChangedFn changed) {
  const std::string path = ground_.layout.cell(key);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(state_->mutex);
    number = ++state_->last;
    state_->by_path[path].told[number] = std::make_shared<const CellChangedFn>(std::move(changed));
  }
  auto subscription = std::make_unique<Subscription>(state_, ground_.watches, path, number);
  set_watch(path, Tell::when_set);
  return subscription;
}

// If it is wanted and not set. What changed before was not told; but whoever reads after this was asked sees it.
void ZookeeperCells::set_watch(const std::string& path, Tell told) {
  std::uint64_t asked = 0;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->by_path.find(path);
    if (found == state_->by_path.end() || found->second.is_set) return;
    ground_.watches.want(path);
    found->second.is_set = true;
    asked = found->second.asked = ++state_->last;
  }
  try {
    ground_.tree.ask({{.op = Op::exists, .path = path, .watch = true}},
                     later(ground_.clock.now(), ground_.tree.timeout()), false, 0,
                     [this, path, told, asked](const Outcome& outcome) {
                       const bool none = std::holds_alternative<NoAnswer>(outcome);
                       if (none) return could_not_watch(path, asked);
                       if (told == Tell::when_set) tell(path);
                     });
  } catch (const std::bad_alloc&) {
    could_not_watch(path, asked);
  }
}

// The next one who reads tries again.
void ZookeeperCells::could_not_watch(const std::string& path, std::uint64_t asked) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->by_path.find(path);
  if (found == state_->by_path.end() || found->second.asked != asked) return;
  if (!std::exchange(found->second.is_set, false)) return;
  ground_.watches.unwant(path);
}

void ZookeeperCells::fired(const std::string& path) {
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->by_path.find(path);
    if (found == state_->by_path.end() || !std::exchange(found->second.is_set, false)) return;
    ground_.watches.unwant(path);
  }
  set_watch(path, Tell::no);
  tell(path);
}

void ZookeeperCells::session_ended() {
  std::vector<std::string> paths;
  {
    const std::lock_guard lock(state_->mutex);
    for (auto& [path, watched] : state_->by_path) {
      if (std::exchange(watched.is_set, false)) ground_.watches.unwant(path);
      paths.push_back(path);
    }
  }
  for (const std::string& path : paths) set_watch(path, Tell::when_set);
}

void ZookeeperCells::tell(const std::string& path) {
  std::vector<Function> told;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->by_path.find(path);
    if (found == state_->by_path.end()) return;
    for (const auto& [number, function] : found->second.told) told.push_back(function);
  }
  for (const Function& each : told) (*each)();
}

void ZookeeperCells::close() {
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
}

}  // namespace holdfast::store::zookeeper
