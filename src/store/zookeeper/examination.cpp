#include "store/zookeeper/examination.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/finding.hpp"
#include "rules/words.hpp"

namespace holdfast::store::zookeeper {
namespace {

using Level = Finding::Level;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::string_view kConfig = "/zookeeper/config";
constexpr Duration kTwoUsualTicks = std::chrono::seconds(4);
constexpr std::size_t kMostLocks = 1000;
// A server counts what was made and what was deleted: a quarter of what a lock's numbers reach.
constexpr std::int32_t kManyChanges = 1 << 30;

std::string in_ms(Duration time) {
  return std::to_string(duration_cast<milliseconds>(time).count()) + " ms";
}

std::string in_fractions_of_ms(Duration time) {
  const auto us = duration_cast<microseconds>(time).count();
  std::string fraction = std::to_string(us % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return std::to_string(us / 1000) + "." + fraction + " ms";
}

std::size_t voters_in(std::string_view config) {
  std::size_t count = 0;
  while (!config.empty()) {
    const std::string_view line = rules::next_word(config, '\n');
    const bool observes = line.find(":observer") != std::string_view::npos;
    if (line.starts_with("server.") && !observes) ++count;
  }
  return count;
}

class Examination : public std::enable_shared_from_this<Examination> {
 public:
  Examination(Ground& ground, const ToExamine& what, Call<ExamineReply> call)
      : ground_(ground), what_(what), call_(std::move(call)) {}

  void begin() {
    sent_ = ground_.clock.now();
    ask({agreement()}, &Examination::agreed);
  }

 private:
  void ask(std::vector<Request> requests, void (Examination::*then)(const Answers&)) {
    auto self = shared_from_this();
    ground_.tree.ask(std::move(requests), call_.deadline(), call_.may_block(), 0,
                     [self, then](const Outcome& outcome) {
                       if (const auto* none = std::get_if<NoAnswer>(&outcome)) {
                         return self->call_.answer(*none);
                       }
                       ((*self).*then)(std::get<Answers>(outcome));
                     });
  }

  void find(Level level, std::string subject, std::string text) {
    findings_.push_back({level, std::move(subject), std::move(text)});
  }

  void agreed(const Answers&) {
    const Duration trip = ground_.clock.now() - sent_;
    const Duration timeout = ground_.tree.timeout();
    const bool other = what_.asked_timeout > Duration::zero() && timeout != what_.asked_timeout;
    if (other) {
      find(Level::warning, "session timeout",
           "the server grants " + in_ms(timeout) + " instead of " + in_ms(what_.asked_timeout) +
               "; look at its minSessionTimeout and maxSessionTimeout");
    } else {
      find(Level::fact, "session timeout", in_ms(timeout));
    }
    // Standing's rule. A server does not tell its tick.
    if (timeout < kTwoUsualTicks) {
      find(Level::warning, "session timeout",
           in_ms(timeout) +
               " is enough only if it is two ticks of the servers or more: look that their "
               "tickTime "
               "is at most half of it, and that nobody lowered minSessionTimeout. Else a lock may "
               "be "
               "given to another while its holder still counts it as valid");
    }
    find(Level::fact, "leases",
         "locks of a dead client are free after " + in_ms(timeout) + "; leases of up to " +
             in_ms(timeout / 3) +
             " are given in full, longer ones as far as the session is known to live");
    const bool slow = trip > timeout / 12;
    find(slow ? Level::warning : Level::fact, "majority",
         "a majority of the servers agreed after " + in_fractions_of_ms(trip) +
             (slow ? "; that leaves little of the session timeout: ask for a longer one" : ""));
    look_at_the_ensemble();
  }

  void look_at_the_ensemble() {
    const std::string& base = ground_.layout.base();
    ask({{.op = Op::get_data, .path = std::string(kConfig)},
         {.op = Op::get_children, .path = base.empty() ? "/" : base}},
        &Examination::seen);
  }

  void seen(const Answers& answers) {
    const Reply& config = answers.replies[0];
    const std::size_t voters = config.code == Code::ok ? voters_in(config.data) : 0;
    if (config.code != Code::ok) {
      find(Level::fact, "ensemble",
           "it does not tell: " + std::string(kConfig) + " cannot be read");
    } else if (voters <= 1) {
      find(Level::warning, "ensemble", "one server: while it is down there are no locks");
    } else if (voters % 2 == 0) {
      find(Level::warning, "ensemble",
           std::to_string(voters) + " servers vote: one less would bear as many failures");
    } else {
      find(Level::fact, "ensemble", std::to_string(voters) + " servers vote");
    }
    const Reply& children = answers.replies[1];
    for (const std::string& child : children.children) {
      std::string path = ground_.layout.base() + '/' + child;
      if (locks_.size() < kMostLocks && ground_.layout.name_at(path))
        locks_.push_back(std::move(path));
    }
    try_rights();
  }

  // A node that no lock is called like, and that ends with the session at the latest.
  void try_rights() {
    const std::string probe = ground_.layout.base() + '/' + std::string(kOwnFolder) + "-probe";
    std::vector<Request> requests;
    if (!ground_.layout.base().empty()) {
      for (std::string& each : path_and_parents(ground_.layout.base())) {
        requests.push_back({.op = Op::create_container, .path = std::move(each)});
      }
    }
    requests.push_back({.op = Op::create, .path = probe, .mode = Mode::ephemeral});
    requests.push_back({.op = Op::set_data, .path = probe});
    requests.push_back({.op = Op::get_data, .path = probe});
    requests.push_back({.op = Op::remove, .path = probe});
    ask(std::move(requests), &Examination::tried);
  }

  void tried(const Answers& answers) {
    const char* const verbs[] = {"make", "write", "read", "delete"};
    const std::string base = ground_.layout.base().empty() ? "/" : ground_.layout.base();
    const std::size_t first = answers.replies.size() - std::size(verbs);
    bool all = true;
    for (std::size_t i = 0; i < std::size(verbs) && all; ++i) {
      const Reply& reply = answers.replies[first + i];
      // Another doctor's may be there.
      if (reply.code == Code::ok || reply.code == Code::node_exists ||
          reply.code == Code::no_node) {
        all = !(i == 0 && reply.code == Code::no_node);
        if (all) continue;
      }
      all = false;
      find(Level::problem, "rights",
           std::string("this client may not ") + verbs[i] + " nodes below " + printable(base) +
               "; look at its ACL");
    }
    if (all)
      find(Level::fact, "rights", "nodes below " + printable(base) + " can be made and deleted");
    count_grants();
  }

  void count_grants() {
    if (locks_.empty()) return call_.answer(std::move(findings_));
    std::vector<Request> requests;
    for (const std::string& each : locks_) requests.push_back({.op = Op::exists, .path = each});
    ask(std::move(requests), &Examination::counted);
  }

  // After 2^31 grants the numbers begin anew below zero, where they are sorted wrongly: then we grant no more.
  void counted(const Answers& answers) {
    for (std::size_t i = 0; i < locks_.size(); ++i) {
      const Reply& lock = answers.replies[i];
      if (lock.code != Code::ok || (lock.stat.cversion >= 0 && lock.stat.cversion < kManyChanges)) {
        continue;
      }
      find(
          Level::warning, "sequence numbers",
          printable(locks_[i]) +
              " has used up a quarter of them or more; delete the node while nobody uses the lock");
    }
    call_.answer(std::move(findings_));
  }

  Ground& ground_;
  const ToExamine what_;
  Call<ExamineReply> call_;
  TimePoint sent_{};
  std::vector<std::string> locks_;
  std::vector<Finding> findings_;
};

}  // namespace

void examine(Ground& ground, const ToExamine& what, Call<ExamineReply> call) {
  std::make_shared<Examination>(ground, what, std::move(call))->begin();
}

}  // namespace holdfast::store::zookeeper
