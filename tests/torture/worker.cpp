#include "torture/worker.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/shared_page.hpp"
#include "support/soon.hpp"
#include "torture/caller.hpp"

namespace holdfast::torture {
namespace {

using namespace std::chrono_literals;

class Worker {
 public:
  explicit Worker(const WorkerPlan& plan)
      : plan_(plan),
        bug_(plant(plan.bug).value_or(Bug::none)),
        door_{plan.url, answer_within(plan.lease)},
        log_(history_path(plan.folder, plan.process)),
        board_(board_path(plan.folder)),
        operator_(open()),
        random_(stream_of(plan.seed, plan.worker, plan.generation, UINT32_MAX)),
        can_(capabilities_of(door_)),
        locks_(lock_list(can_, plan.lease)),
        place_{log_, *board_, locks_, can_, resource_path(plan.folder), bug_} {
    for (std::uint32_t i = 0; i < plan.seats; ++i) {
      seats_.push_back(std::make_unique<Seat>([this] { return open(); }));
    }
  }

  void start() {
    for (std::uint32_t i = 0; i < plan_.seats * plan_.callers; ++i) {
      const std::uint64_t stream = stream_of(plan_.seed, plan_.worker, plan_.generation, i);
      callers_.push_back(std::make_unique<Caller>(place_, *seats_[i % plan_.seats], i, stream));
    }
    for (auto& caller : callers_) threads_.emplace_back([&caller] { caller->run(); });
  }

  void cancel() {
    for (std::size_t tried = 0; tried < callers_.size(); ++tried) {
      if (callers_[random_.below(callers_.size())]->cancel()) return;
    }
  }

  void close() { seats_[random_.below(seats_.size())]->reopen(); }

  bool revoke() {
    for (int tries = 0; tries < 200; ++tries) {
      if (revoke_one()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  void finish() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // By two clients of this process, after the last caller has come back.
  void write_late() {
    Seat other([this] { return open(); });
    const auto number = static_cast<std::uint32_t>(callers_.size());
    Caller next(place_, other, number + 1, random_.next());
    Caller(place_, *seats_.front(), number, random_.next()).write_late(next);
  }

  // Some stores take a dead holder for one until they have watched it for its lease. Nobody waits for a lock
  // any more, so what is forgotten now is in nobody's way.
  void watch() {
    if (bug_ == Bug::forget_release) forget_one();
    static_cast<void>(operator_->client->inspect());
  }

  // What the store shows. Returns how much of it this operator holds.
  std::size_t look() {
    std::size_t own = 0;
    const auto found = operator_->client->inspect();
    if (!found) throw std::runtime_error(found.error().text());
    for (const LockInfo& lock : *found) {
      for (const ClaimInfo& holder : lock.holders) {
        note(lock.name, holder, true);
        if (client_from(holder.record.program) == operator_->number) ++own;
      }
      for (const ClaimInfo& waiter : lock.line) note(lock.name, waiter, false);
    }
    return own;
  }

  // Whoever stands in the way is somebody who should not be there. What is taken here has to be shown: a
  // store that shows nothing would have no ghosts either.
  void keep_all() {
    std::size_t kept = 0;
    for (const LockPlan& lock : locks_) kept += keep(lock, *operator_) != nullptr ? 1 : 0;
    if (look() != kept) throw std::runtime_error("the store does not show what is held");
  }

 private:
  std::shared_ptr<Session> open() {
    const std::uint32_t number = plan_.process * kClientsPerProcess + sessions_++;
    if (sessions_ == kClientsPerProcess) throw std::runtime_error("too many clients");
    return std::make_shared<Session>(door_, log_, number);
  }

  bool revoke_one() {
    const auto found = operator_->client->inspect();
    if (!found || found->empty()) return false;
    const LockInfo& lock = (*found)[random_.below(found->size())];
    if (lock.holders.empty()) return false;
    const ClaimInfo& holder = lock.holders[random_.below(lock.holders.size())];
    if (holder.revoked || holder.offered) return false;
    return operator_->client->force_release(lock.name, {.fence = holder.fence, .reason = "torture"})
        .has_value();
  }

  void note(const std::string& lock, const ClaimInfo& seen, bool holds) {
    const std::uint32_t client = client_from(seen.record.program);
    if (client == 0) return;  // somebody else uses this store, too
    log_.add(check::Leftover{.name = lock,
                             .client = client,
                             .owner = claim_from(seen.record.owner),
                             .in_line = !holds,
                             .holds = holds});
  }

  // It is written down as a wait without limit that has no end unless it is served: at rest it has to
  // be, and its limit only ends a run that has failed.
  const check::Acquire* keep(const LockPlan& lock, const Session& session) {
    check::Acquire entry{
        .client = session.number, .op = kept_.size() + 1, .name = lock.name, .invoked = boot_now()};
    if (lock.kind == store::Kind::semaphore) {
      entry.mode = check::Mode::permits;
      entry.of = lock.permits;
    }
    log_.add(entry);
    const AcquireOptions options{.wait = plan_.lease * 10};
    auto hold = acquire(*session.client, lock,
                        lock.kind == store::Kind::semaphore ? store::Shape::permits(1, lock.permits)
                                                            : store::Shape::exclusive(),
                        options);
    if (!hold) return nullptr;
    entry.returned = boot_now();
    note_granted(entry, *hold, *session.seen);
    entry.valid_end = kNever;
    log_.add(entry);
    return &kept_.emplace_back(entry, std::move(*hold)).first;
  }

  // Its record says that it was released.
  void forget_one() {
    const check::Acquire* const kept = keep(locks_.front(), *seats_.front()->session());
    if (kept == nullptr) return;
    check::Acquire entry = *kept;
    entry.released = entry.valid_end = boot_now();
    log_.add(entry);
  }

  const WorkerPlan plan_;
  const Bug bug_;
  const Doorway door_;
  Log log_;
  test::SharedPage<Board> board_;
  std::atomic<std::uint32_t> sessions_{0};
  const std::shared_ptr<Session> operator_;
  test::SeededRandom random_;
  const store::Capabilities can_;
  const std::vector<LockPlan> locks_;
  Workplace place_;
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::vector<std::thread> threads_;
  std::deque<std::pair<check::Acquire, Hold>> kept_;
};

void serve(Worker& worker, test::Parent& parent) {
  parent.tell("ready");
  worker.start();
  while (const auto order = parent.hear()) {
    if (*order == "cancel") {
      worker.cancel();
      parent.tell("did");
    } else if (*order == "close") {
      worker.close();
      parent.tell("did");
    } else if (*order == "revoke") {
      parent.tell(worker.revoke() ? "did" : "nothing");
    } else if (*order == "finish") {
      worker.finish();
      parent.tell("done");
    } else if (*order == "write late") {
      worker.write_late();
      parent.tell("wrote");
    } else if (*order == "watch") {
      worker.watch();
      parent.tell("watched");
    } else if (*order == "look") {
      worker.look();
      parent.tell("looked");
    } else if (*order == "keep") {
      worker.keep_all();
      parent.tell("looked");
    } else {
      return;
    }
  }
}

}  // namespace

const test::Role kWorker("torture-worker", [](test::Parent& parent, const test::Words& words) {
  Worker worker(WorkerPlan::from(words));
  serve(worker, parent);
});

test::Words WorkerPlan::words() const {
  return {url,
          folder,
          std::to_string(process),
          std::to_string(worker),
          std::to_string(generation),
          std::to_string(seats),
          std::to_string(callers),
          std::to_string(seed),
          std::to_string(lease.count()),
          bug};
}

WorkerPlan WorkerPlan::from(const test::Words& words) {
  const auto number = [&](std::size_t at) {
    return static_cast<std::uint32_t>(std::stoul(words.at(at)));
  };
  return {.url = words.at(0),
          .folder = words.at(1),
          .process = number(2),
          .worker = number(3),
          .generation = number(4),
          .seats = number(5),
          .callers = number(6),
          .seed = std::stoull(words.at(7)),
          .lease = std::chrono::milliseconds(number(8)),
          .bug = words.at(9)};
}

}  // namespace holdfast::torture
