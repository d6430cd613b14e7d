#include "store/zookeeper/force.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/zookeeper/failure.hpp"
#include "store/zookeeper/line.hpp"
#include "store/zookeeper/node_data.hpp"

namespace holdfast::store::zookeeper {
namespace {

constexpr int kMostRounds = 10;

class Forcing : public std::enable_shared_from_this<Forcing> {
 public:
  Forcing(Ground& ground, ForceRequest request, Call<ForceReply> call)
      : ground_(ground),
        request_(std::move(request)),
        call_(std::move(call)),
        lock_(ground.layout.lock(request_.name)),
        leases_(ground.layout.leases(request_.name)) {}

  // An operator names the lock and the fence, and need not know what kind it is.
  void begin() {
    ask({{.op = Op::sync, .path = lock_},
         {.op = Op::get_children, .path = lock_},
         {.op = Op::get_children, .path = leases_}},
        &Forcing::listed);
  }

 private:
  void ask(std::vector<Request> requests, void (Forcing::*then)(const Answers&)) {
    if (requests.empty() || ++rounds_ > kMostRounds) return call_.answer(ChangedHands{});
    auto self = shared_from_this();
    ground_.tree.ask(std::move(requests), call_.deadline(), call_.may_block(), 0,
                     [self, then](const Outcome& outcome) {
                       if (const auto* none = std::get_if<NoAnswer>(&outcome)) {
                         return self->call_.answer(*none);
                       }
                       ((*self).*then)(std::get<Answers>(outcome));
                     });
  }

  void listed(const Answers& answers) {
    const Reply& contenders = answers.replies[1];
    const Reply& leases = answers.replies[2];
    for (const Reply* each : {&contenders, &leases}) {
      if (each->code != Code::ok && each->code != Code::no_node) {
        return call_.answer(failure(*each, lock_));
      }
    }
    holders_.clear();
    for (const Kind kind : {Kind::mutex, Kind::shared_mutex}) {
      const Line line(kind, contenders.children);
      for (std::size_t i = 0; i < line.all().size() && line.holds(i); ++i) {
        holders_.push_back(lock_ + '/' + std::string(line.at(i).name));
      }
    }
    for (const std::string& name : leases.children) holders_.push_back(leases_ + '/' + name);
    read();
  }

  void read() {
    std::vector<Request> requests;
    for (const std::string& path : holders_) {
      requests.push_back({.op = Op::get_data, .path = path});
    }
    ask(std::move(requests), &Forcing::meant);
  }

  // Several permits of one claim were made as one, and have one fence. All of them are written to: which one its
  // holder looks at is not ours to know.
  void meant(const Answers& answers) {
    std::vector<Request> requests;
    bool is_revoked_already = false;
    const Reply* refused = nullptr;
    for (std::size_t i = 0; i < holders_.size(); ++i) {
      const Reply& node = answers.replies[i];
      if (is_refused(node)) refused = &node;
      if (node.code != Code::ok) continue;
      const auto data = node_data_in(node.data);
      if (fence_of(data, node.stat, ground_.fences) != request_.fence) continue;
      const std::string& path = holders_[i];
      if (request_.now) {
        requests.push_back({.op = Op::remove, .path = path});
      } else if (!is_revoked(node.data)) {
        requests.push_back({.op = Op::set_data,
                            .path = path,
                            .data = revoked(node.data),
                            .version = node.stat.version});
      } else {
        is_revoked_already = true;
      }
    }
    if (requests.empty() && is_revoked_already) return call_.answer(Forced{});
    // It may be the one that is meant.
    if (requests.empty() && refused != nullptr) return call_.answer(failure(*refused, lock_));
    ask(std::move(requests), &Forcing::done);
  }

  void done(const Answers& answers) {
    bool forced = false;
    for (const Reply& each : answers.replies) {
      if (each.code == Code::bad_version) return read();  // somebody else wrote, perhaps the same
      if (each.code != Code::ok && each.code != Code::no_node) {
        return call_.answer(failure(each, lock_));
      }
      forced = forced || each.code == Code::ok;
    }
    if (forced) return call_.answer(Forced{});
    call_.answer(ChangedHands{});
  }

  Ground& ground_;
  const ForceRequest request_;
  Call<ForceReply> call_;
  const std::string lock_;
  const std::string leases_;
  std::vector<std::string> holders_;  // paths
  int rounds_ = 0;
};

}  // namespace

void force_release(Ground& ground, const ForceRequest& request, Call<ForceReply> call) {
  std::make_shared<Forcing>(ground, request, std::move(call))->begin();
}

}  // namespace holdfast::store::zookeeper
