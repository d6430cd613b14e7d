#include "torture/conductor.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/effort.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "torture/bugs.hpp"
#include "torture/log.hpp"
#include "torture/session.hpp"

namespace holdfast::torture {
namespace {

using namespace std::chrono_literals;
using test::ChildProcess;
using test::Parent;
using test::Words;

// These only end a run that has failed.
constexpr auto kStuck = test::kSanitized ? 600s : 120s;
constexpr std::size_t kMostTroubles = 5;
// How late a wait may end on a machine that has other things to do.
constexpr Time kSlack = millis(test::kSanitized ? 60'000 : 10'000);

// Wants all of the CPU until it is killed.
const test::Role kHog("torture-hog", [](Parent&, const Words&) {
  static std::atomic<std::uint64_t> turns{0};
  const auto spin = [] {
    while (true) turns.fetch_add(1, std::memory_order_relaxed);
  };
  for (unsigned i = 1; i < std::max(2U, std::thread::hardware_concurrency()); ++i) {
    std::thread(spin).detach();
  }
  spin();
});

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ResourceServer::Fences fences_for(const std::string& bug) {
  return plant(bug) == Bug::ignore_fences ? ResourceServer::Fences::ignored
                                          : ResourceServer::Fences::checked;
}

}  // namespace

Conductor::Conductor(const Options& options, Scene& scene)
    : options_(options),
      url_(scene.url()),
      one_process_(scene.is_one_process()),
      board_(board_path(folder_.path()), test::SharedPage<Board>::Make{}),
      resource_(resource_path(folder_.path()), fences_for(options.bug)),
      disturbances_(scene.disturbances()),
      locks_(lock_list(capabilities_of({url_, answer_within(options.lease)}), options.lease)),
      plan_{} {
  plan_ = plan_of({.seed = options.seed,
                   .ops = options.ops,
                   .faults = options.faults,
                   .workers = one_process_ ? 1 : options.processes,
                   .lease = Duration(options.lease).count(),
                   .disturbances = static_cast<std::uint32_t>(disturbances_.size()),
                   .can_kill = !one_process_});
  board_->ops = options.ops;
  for (const auto& each : disturbances_) {
    gathered_.disturbances.push_back({std::string(each->name()), std::string(each->text())});
  }
}

Gathered Conductor::run() {
  const test::Stopwatch watch;
  for (std::uint32_t i = 0; i < (one_process_ ? 1 : options_.processes); ++i) {
    posts_.push_back(std::make_unique<Post>());
    posts_.back()->worker = i;
    start(*posts_.back());
  }
  for (auto& post : posts_) {
    if (!hear(*post, "ready", test::kSoon)) throw std::runtime_error("a worker cannot begin");
    post->ready = true;
  }
  loop();
  finish();
  last_look();
  dismiss();
  gather();
  gathered_.ops = board_->taken;
  gathered_.took = watch.elapsed();
  progress_.clear();
  return std::move(gathered_);
}

// ---- workers ----

void Conductor::start(Post& post) {
  post.process = static_cast<std::uint32_t>(traces_.size());
  traces_.emplace_back();
  post.ready = post.stopped = false;
  post.asked.clear();
  const WorkerPlan plan{.url = url_,
                        .folder = folder_.path(),
                        .process = post.process,
                        .worker = post.worker,
                        .generation = post.generation++,
                        .seats = one_process_ ? options_.processes : 1,
                        .seed = options_.seed,
                        .lease = options_.lease,
                        .bug = options_.bug};
  post.child.emplace(kWorker, plan.words());
}

void Conductor::listen(Post& post) {
  for (std::string line = post.child->hear(0ms); !line.empty(); line = post.child->hear(0ms)) {
    if (line == "ready") post.ready = true;
    if (post.asked.empty() || (line != "did" && line != "nothing")) continue;
    Struck struck = post.asked.front();
    post.asked.erase(post.asked.begin());
    if (line == "did") gathered_.struck.push_back(struck);
    last_fault_ = std::max(last_fault_, boot_now());
  }
}

void Conductor::look_after(Post& post) {
  listen(post);
  if (post.child->running()) return;
  gathered_.troubles.push_back("process " + std::to_string(post.process) + " died by itself");
  if (gathered_.troubles.size() > kMostTroubles) throw std::runtime_error("workers keep dying");
  traces_[post.process].killed = boot_now();
  post.child->kill();
  start(post);
}

// ---- faults ----

void Conductor::loop() {
  test::Stopwatch quiet;
  std::uint64_t seen = 0;
  const auto all_quiet = [](const auto& post) { return post->ready && post->asked.empty(); };
  while (board_->taken < board_->ops || next_ < plan_.size() || !lasting_.empty() ||
         !std::all_of(posts_.begin(), posts_.end(), all_quiet)) {
    allow();
    heal(boot_now());
    for (auto& post : posts_) look_after(*post);
    while (next_ < plan_.size() && board_->taken >= plan_[next_].at_op && strike(plan_[next_])) {
      ++next_;
    }
    const std::uint64_t now = board_->taken + next_;
    if (std::exchange(seen, now) != now) quiet = {};
    if (quiet.elapsed() > kStuck) {
      gathered_.troubles.emplace_back("nothing went on any more");
      return;
    }
    progress_.show({.ops = board_->taken,
                    .of_ops = options_.ops,
                    .faults = next_,
                    .of_faults = plan_.size(),
                    .lost_in_twin = resource_.lost_in_twin()});
    std::this_thread::sleep_for(1ms);
  }
}

// The acquires wait for the faults that were planned among them, if those are late: a store may be so fast
// that all acquires were over otherwise.
void Conductor::allow() {
  const std::size_t ahead = next_ + posts_.size();
  board_->allowed = ahead < plan_.size() ? plan_[ahead].at_op : options_.ops;
}

Conductor::Post* Conductor::victim(const PlannedFault& fault) {
  const auto runs = [](const auto& post) { return post->ready && !post->stopped; };
  const bool stops = fault.fault == Fault::pause_short || fault.fault == Fault::pause_long;
  // Somebody is to see what befalls the others.
  const auto running = std::count_if(posts_.begin(), posts_.end(), runs);
  if (stops && running < 2 && posts_.size() > 1) return nullptr;
  for (std::size_t i = 0; i < posts_.size(); ++i) {
    auto& post = posts_[(fault.victim + i) % posts_.size()];
    if (runs(post)) return post.get();
  }
  return nullptr;
}

// False: not now.
bool Conductor::strike(const PlannedFault& fault) {
  if (fault.fault == Fault::hog) {
    Lasting hog{.struck = {.fault = fault.fault, .from = boot_now(), .to = kNever}};
    hog.struck.to = hog.struck.from + fault.length;
    hog.hog.emplace(kHog);
    lasting_.push_back(std::move(hog));
    return true;
  }
  if (fault.fault == Fault::store) {
    const bool busy = std::any_of(lasting_.begin(), lasting_.end(), [](const Lasting& each) {
      return each.struck.fault == Fault::store;
    });
    if (busy) return false;
    const Time now = boot_now();
    disturbances_.at(fault.which)->begin();
    lasting_.push_back(
        {.struck = {
             .fault = fault.fault, .from = now, .to = now + fault.length, .which = fault.which}});
    return true;
  }
  Post* const post = victim(fault);
  if (post == nullptr) return false;
  switch (fault.fault) {
    case Fault::cancel:
      tell(*post, fault, "cancel");
      break;
    case Fault::close:
      tell(*post, fault, "close");
      break;
    case Fault::revoke:
      tell(*post, fault, "revoke");
      break;
    case Fault::kill:
      kill(*post);
      break;
    default:
      stop(*post, fault);
      break;
  }
  return true;
}

void Conductor::tell(Post& post, const PlannedFault& fault, const char* order) {
  const Time now = boot_now();
  post.asked.push_back({.fault = fault.fault, .process = post.process, .from = now, .to = now});
  post.child->tell(order);
}

void Conductor::stop(Post& post, const PlannedFault& fault) {
  const Time now = boot_now();
  post.child->stop();
  post.stopped = true;
  lasting_.push_back({.struck = {.fault = fault.fault,
                                 .process = post.process,
                                 .from = now,
                                 .to = now + fault.length},
                      .post = &post});
}

void Conductor::kill(Post& post) {
  const Time now = boot_now();
  traces_[post.process].killed = now;
  post.child->kill();
  gathered_.struck.push_back(
      {.fault = Fault::kill, .process = post.process, .from = now, .to = boot_now()});
  last_fault_ = std::max(last_fault_, boot_now());
  start(post);
}

void Conductor::heal(Time now) {
  for (Lasting& each : lasting_) {
    if (now >= each.struck.to) end(each);
  }
  std::erase_if(lasting_, [&](const Lasting& each) { return each.struck.to <= now; });
}

void Conductor::end(Lasting& lasting) {
  Struck struck = lasting.struck;
  if (lasting.hog) lasting.hog->kill();
  if (struck.fault == Fault::store) disturbances_.at(struck.which)->end();
  if (lasting.post != nullptr) {
    lasting.post->child->signal(SIGCONT);
    lasting.post->stopped = false;
  }
  struck.to = boot_now();
  if (lasting.post != nullptr) {
    traces_[struck.process].pauses.push_back({struck.from, struck.to});
  }
  last_fault_ = std::max(last_fault_, struck.to);
  gathered_.struck.push_back(struck);
}

// ---- the end ----

bool Conductor::hear(Post& post, const std::string& expected, std::chrono::milliseconds patience) {
  const test::Stopwatch watch;
  while (watch.elapsed() < patience && post.child->running()) {
    if (post.child->hear(100ms) == expected) return true;
  }
  return post.child->hear(0ms) == expected;
}

void Conductor::finish() {
  progress_.say("the last callers come back");
  for (auto& post : posts_) post->child->tell("finish");
  for (auto& post : posts_) {
    if (hear(*post, "done", kStuck)) continue;
    gathered_.troubles.push_back("process " + std::to_string(post->process) +
                                 " does not come to an end");
  }
}

// What the store shows once all leases of the dead are over.
void Conductor::last_look() {
  progress_.say("rest, and a last look");
  Post& post = *posts_.front();
  const auto ask = [&](const char* order, const char* answer) {
    post.child->tell(order);
    if (!hear(post, answer, kStuck))
      gathered_.troubles.emplace_back("the store cannot be looked at");
  };
  ask("write late", "wrote");
  ask("watch", "watched");
  std::this_thread::sleep_for(options_.lease * 5 / 4 + 100ms);
  ask("look", "looked");
  ask("keep", "looked");
  gathered_.history.terms = terms();
}

void Conductor::dismiss() {
  for (auto& post : posts_) {
    post->child->tell("exit");
    if (post->child->exit_code() == 0) continue;
    gathered_.troubles.push_back("process " + std::to_string(post->process) + " ended badly");
  }
  posts_.clear();
}

check::Terms Conductor::terms() const {
  check::Terms terms;
  for (const Struck& each : gathered_.struck) {
    if (each.fault != Fault::store) continue;
    const check::Assumptions left = disturbances_.at(each.which)->leaves();
    terms.assumptions.timing &= left.timing;
    terms.assumptions.store_keeps_data &= left.store_keeps_data;
    terms.assumptions.plain_counter |= left.plain_counter;
  }
  const Time lease = Duration(options_.lease).count();
  const Time answer = Duration(answer_within(options_.lease)).count();
  terms.ended = boot_now();
  terms.last_fault = last_fault_;
  terms.longest_lease = lease;
  // A lease has to end, and somebody has to look again after the longest rest.
  terms.served_within = lease * 3 + answer * 4 + millis(6000) + kSlack;
  terms.slack = answer * 2 + kSlack;
  terms.jitter = millis(5);
  return terms;
}

void Conductor::gather() {
  resource_.stop();
  std::vector<std::string> names;
  for (const LockPlan& lock : locks_) names.push_back(lock.name);
  resource_.finish(names, gathered_.history);
  for (std::uint32_t process = 1; process < traces_.size(); ++process) {
    const Trace& trace = traces_[process];
    const std::string path = history_path(folder_.path(), process);
    const std::string error = merge({text_of(path), trace.killed, trace.pauses}, gathered_.history);
    if (!error.empty()) throw std::runtime_error(path + ": " + error);
  }
}

}  // namespace holdfast::torture
