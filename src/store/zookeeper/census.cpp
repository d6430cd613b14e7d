#include "store/zookeeper/census.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/glob.hpp"
#include "store/zookeeper/failure.hpp"
#include "store/zookeeper/line.hpp"
#include "store/zookeeper/node_data.hpp"

namespace holdfast::store::zookeeper {
namespace {

constexpr std::size_t kAtOnce = 200;

// What a node without our data stands for.
Shape shape_of(Tag tag) {
  if (tag == Tag::read) return Shape::shared();
  if (tag == Tag::lease) return Shape::permits(1, 1);
  return Shape::exclusive();
}

class Census : public std::enable_shared_from_this<Census> {
 public:
  Census(Ground& ground, std::string_view pattern, Call<InspectReply> call)
      : ground_(ground), pattern_(pattern), call_(std::move(call)) {}

  void begin() {
    const std::string& base = ground_.layout.base();
    folders_.push_back({.path = base.empty() ? "/" : base, .what = What::names});
    list_some();
  }

 private:
  // A folder to be listed.
  enum class What : std::uint8_t { names, lock, line, leases };
  struct Folder {
    std::string path;
    What what;
    LockName name{};
  };
  // A node to be read. Those of a hold come first, in the order in which they are shown.
  struct Node {
    std::string path;
    std::size_t lock;  // in locks_
    bool holds;
  };

  template <class Then>
  void ask(std::vector<Request> requests, Then then) {
    auto self = shared_from_this();
    ground_.tree.ask(std::move(requests), call_.deadline(), call_.may_block(), 0,
                     [self, then](const Outcome& outcome) {
                       if (const auto* none = std::get_if<NoAnswer>(&outcome)) {
                         return self->call_.answer(*none);
                       }
                       then(std::get<Answers>(outcome));
                     });
  }

  // ---- folders ----

  void list_some() {
    if (folders_.empty()) return read_some();
    std::vector<Folder> now;
    while (!folders_.empty() && now.size() < kAtOnce) {
      now.push_back(std::move(folders_.front()));
      folders_.pop_front();
    }
    std::vector<Request> requests{{.op = Op::sync, .path = now.front().path}};
    for (const Folder& each : now) requests.push_back({.op = Op::get_children, .path = each.path});
    ask(std::move(requests), [this, now](const Answers& answers) { listed(now, answers); });
  }

  void listed(const std::vector<Folder>& folders, const Answers& answers) {
    for (std::size_t i = 0; i < folders.size(); ++i) {
      const Reply& reply = answers.replies[i + 1];
      if (reply.code == Code::no_node || is_hidden(folders[i], reply)) continue;
      if (reply.code != Code::ok) return call_.answer(failure(reply, folders[i].path));
      take(folders[i], reply.children);
    }
    list_some();
  }

  // Others have nodes here, too, and need not show us what is below.
  bool is_hidden(const Folder& folder, const Reply& reply) const {
    return reply.code == Code::no_auth && folder.path.size() > ground_.layout.base().size() + 1;
  }

  void take(const Folder& folder, const std::vector<std::string>& children) {
    switch (folder.what) {
      case What::names:
        return take_names(folder, children);
      case What::lock:
        take_line(Kind::mutex, folder, children);
        take_line(Kind::shared_mutex, folder, children);
        for (const std::string& child : children) {
          if (child == kLocksFolder) add_folder(folder, child, What::line);
          if (child == kLeasesFolder) add_folder(folder, child, What::leases);
        }
        if (ground_.layout.names_are_paths()) take_names(folder, children);
        return;
      case What::line:
        return take_line(Kind::semaphore, folder, children);
      case What::leases:
        return take_leases(folder, children);
    }
  }

  void add_folder(const Folder& above, const std::string& child, What what) {
    folders_.push_back({above.path + '/' + child, what, above.name});
  }

  void take_names(const Folder& folder, const std::vector<std::string>& children) {
    const bool nested = ground_.layout.names_are_paths();
    for (const std::string& child : children) {
      std::string path = (folder.path == "/" ? "" : folder.path) + '/' + child;
      auto name = ground_.layout.name_at(path);
      if (!name) continue;
      if (!nested && !rules::glob_matches(pattern_, name->bytes())) continue;
      // A semaphore's own folders are no locks, but there may be some in them.
      const bool own =
          folder.what == What::lock && (child == kLocksFolder || child == kLeasesFolder);
      folders_.push_back({std::move(path), own ? What::names : What::lock, *std::move(name)});
    }
  }

  // ---- locks ----

  std::size_t lock_of(Kind kind, const LockName& name) {
    const auto [found, is_new] = index_.try_emplace({name, kind}, locks_.size());
    if (is_new) {
      LockView& view = locks_.emplace_back();
      view.kind = kind;
      view.name = name;
    }
    return found->second;
  }

  bool is_meant(const LockName& name) const { return rules::glob_matches(pattern_, name.bytes()); }

  void take_line(Kind kind, const Folder& folder, const std::vector<std::string>& children) {
    const Line line(kind, children);
    if (line.empty() || !is_meant(folder.name)) return;
    const std::size_t lock = lock_of(kind, folder.name);
    for (std::size_t i = 0; i < line.all().size(); ++i) {
      nodes_.push_back({folder.path + '/' + std::string(line.at(i).name), lock, line.holds(i)});
    }
  }

  void take_leases(const Folder& folder, std::vector<std::string> children) {
    if (children.empty() || !is_meant(folder.name)) return;
    const std::size_t lock = lock_of(Kind::semaphore, folder.name);
    std::sort(children.begin(), children.end(), [](const std::string& a, const std::string& b) {
      return parse_node(a).key < parse_node(b).key;
    });
    for (const std::string& each : children) {
      nodes_.push_back({folder.path + '/' + each, lock, true});
    }
  }

  // ---- nodes ----

  void read_some() {
    if (next_node_ == nodes_.size()) return end();
    std::vector<Request> requests;
    for (std::size_t i = next_node_; i < nodes_.size() && requests.size() < kAtOnce; ++i) {
      requests.push_back({.op = Op::get_data, .path = nodes_[i].path});
    }
    ask(std::move(requests), [this](const Answers& answers) {
      for (const Reply& reply : answers.replies) show(nodes_[next_node_++], reply);
      read_some();
    });
  }

  void show(const Node& node, const Reply& reply) {
    // It is gone meanwhile. One that we may not read is there all the same, and has a name.
    if (reply.code == Code::no_node) return;
    const std::string_view name = last_part_of(node.path);
    const NodeName parsed = parse_node(name);
    const auto data = node_data_in(reply.data);
    LockView& lock = locks_[node.lock];
    // Of several permits of one claim the first has the data.
    if (parsed.tag == Tag::lease && !data && !parsed.uuid.empty()) {
      if (!shown_.insert({std::string(parsed.uuid), node.lock}).second) return;
    } else if (parsed.tag == Tag::lease) {
      shown_.insert({std::string(parsed.uuid), node.lock});
    }
    ClaimView claim;
    claim.shape = data ? data->shape : shape_of(parsed.tag);
    if (data) claim.owner = data->owner;
    claim.record = record_of(name, reply.data);
    claim.lease_left = data ? data->lease : ground_.tree.timeout();
    if (node.holds) {
      claim.fence = fence_of(data, reply.stat, ground_.fences);
      claim.revoked = is_revoked(reply.data);
    }
    (node.holds ? lock.holds : lock.line).push_back(std::move(claim));
  }

  void end() {
    std::erase_if(locks_,
                  [](const LockView& each) { return each.holds.empty() && each.line.empty(); });
    call_.answer(std::move(locks_));
  }

  Ground& ground_;
  const std::string pattern_;
  Call<InspectReply> call_;
  std::deque<Folder> folders_;
  std::vector<LockView> locks_;
  std::map<std::pair<LockName, Kind>, std::size_t> index_;
  std::vector<Node> nodes_;
  std::size_t next_node_ = 0;
  std::set<std::pair<std::string, std::size_t>> shown_;  // claims with permits: uuid and lock
};

}  // namespace

void inspect(Ground& ground, std::string_view pattern, Call<InspectReply> call) {
  std::make_shared<Census>(ground, pattern, std::move(call))->begin();
}

}  // namespace holdfast::store::zookeeper
