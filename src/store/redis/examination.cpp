#include "store/redis/examination.hpp"

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "store/redis/keys.hpp"
#include "store/redis/rights.hpp"
#include "store/redis/script_asker.hpp"
#include "store/redis/server_findings.hpp"
#include "store/redis/server_info.hpp"
#include "store/redis/wanted_channel.hpp"

namespace holdfast::store::redis {
namespace {

using Level = Finding::Level;

class Examination final : public std::enable_shared_from_this<Examination> {
 public:
  Examination(const Examined& what, Call<ExamineReply> call)
      : what_(what),
        call_(std::move(call)),
        deadline_(call_.deadline()),
        channel_(what.subscriber, wake_channel(what.client)) {
    plan();
  }
  Examination(const Examination&) = delete;
  Examination& operator=(const Examination&) = delete;

  void next() {
    if (steps_.empty()) return finish();
    if (steps_.size() == 1 && !std::exchange(waited_, true)) return wait_for_channel();
    const Step step = std::move(steps_.front());
    steps_.pop_front();
    ask_words(
        what_.connection, step.words, deadline_,
        [self = shared_from_this(), take = step.take](const Reply& reply) {
          take(reply);
          self->next();
        },
        [self = shared_from_this()](NoAnswer no) { self->call_.answer(std::move(no)); });
  }

 private:
  struct Step {
    Words words;
    std::function<void(const Reply&)> take;
  };

  // Its answers are taken in this order; findings come in the order of finish().
  void plan() {
    steps_.push_back({{"INFO"}, [this](const Reply& reply) { info_.add_info(reply); }});
    for (const char* setting : {"appendfsync", "save", "min-replicas-to-write"}) {
      steps_.push_back(
          {{"CONFIG", "GET", setting}, [this](const Reply& reply) { info_.add_config(reply); }});
    }
    steps_.push_back({{"ACL", "WHOAMI"}, [this](const Reply& reply) { who_ = reply; }});
    const Question rights = ask_rights(*LockName::checked("holdfast-rights"), what_.settings);
    for (const ScriptAs as : {ScriptAs::sha1, ScriptAs::text}) {
      steps_.push_back(
          {words_of(rights, as), [this, as](const Reply& reply) { add_rights(reply, as); }});
    }
    steps_.push_back({{"PING"}, [this](const Reply&) { asked_ = what_.clock.wall_now(); }});
    steps_.push_back({{"TIME"}, [this](const Reply& reply) {
                        time_ = reply;
                        told_ = what_.clock.wall_now();
                      }});
    // Whoever asked may be reading this connection, and looks up when something comes over it.
    steps_.push_back({{"PING"}, [](const Reply&) {}});
  }

  // Both ways to run a script are needed. That the server does not know it yet is no objection.
  void add_rights(const Reply& reply, ScriptAs as) {
    const bool ran = !reply.is(Reply::Type::error) || reply.text.starts_with("NOSCRIPT");
    if (as == ScriptAs::sha1 && ran) return;
    const char* const command = as == ScriptAs::sha1 ? "EVALSHA" : "EVAL";
    for (Finding& each : rights_in(reply, command)) {
      if (rights_.empty() || each.level != Level::fact) rights_.push_back(std::move(each));
    }
  }

  // Whether the server lets us listen. Not to the very end: the findings are to arrive in time.
  void wait_for_channel() {
    const TimePoint now = what_.clock.now();
    what_.subscriber->when_known(channel_.name(), later(now, left_until(deadline_, now) / 2),
                                 [self = shared_from_this()] { self->next(); });
  }

  void finish() {
    std::vector<Finding> findings{connection_finding(what_.address),
                                  user_finding(what_.address, who_)};
    const auto add = [&](std::vector<Finding> more) {
      findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    };
    add(findings_about(info_, what_.address));
    findings.push_back(clock_finding(time_, asked_, told_));
    add(std::move(rights_));
    add(listening());
    findings.push_back({Level::fact, "least rights", acl_line()});
    call_.answer(std::move(findings));
  }

  std::vector<Finding> listening() const {
    if (what_.subscriber->stands(channel_.name())) return {};
    std::string why = what_.subscriber->refusal();
    if (why.empty()) why = "there is no second connection to listen on";
    return {{Level::warning, "listening",
             why + ": waiters are not woken and look by themselves, later"}};
  }

  const Examined what_;
  Call<ExamineReply> call_;
  const TimePoint deadline_;
  const WantedChannel channel_;
  std::deque<Step> steps_;
  bool waited_ = false;

  ServerInfo info_;
  Reply who_;
  Reply time_;
  std::vector<Finding> rights_;
  WallTime asked_{};  // just before the server's time, and
  WallTime told_{};   // just after
};

}  // namespace

void examine(const Examined& what, Call<ExamineReply> call) {
  std::make_shared<Examination>(what, std::move(call))->next();
}

}  // namespace holdfast::store::redis
