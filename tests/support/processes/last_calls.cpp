#include "support/processes/last_calls.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/child_process.hpp"
#include "support/forwarding_store.hpp"
#include "support/processes/holder.hpp"
#include "support/relay.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "support/test_client.hpp"

namespace holdfast::test {
namespace {

using namespace store;

enum class Dies { asking, answered };

// Ends its process at a certain question.
class LastCallStore final : public ForwardingStore {
 public:
  LastCallStore(std::unique_ptr<Store> inner, int last, Dies dies)
      : ForwardingStore(std::move(inner)), last_(last), dies_(dies) {}

  int calls() const { return calls_; }
  int watches() const { return watches_; }

  void try_grant(const GrantRequest& request, Call<GrantReply> call) override {
    inner().try_grant(request, counted(std::move(call)));
  }
  void renew(std::span<const Renewal> renewals, Call<RenewReply> call) override {
    inner().renew(renewals, counted(std::move(call)));
  }
  void release(const HoldKey& key, Call<ReleaseReply> call) override {
    inner().release(key, counted(std::move(call)));
  }
  void withdraw(const ClaimKey& key, Call<WithdrawReply> call) override {
    inner().withdraw(key, counted(std::move(call)));
  }
  WatchPtr watch(const ClaimKey& key, WakeFn wake) override {
    const bool last = is_last();
    if (last && dies_ == Dies::asking) die();
    WatchPtr watch = inner().watch(key, std::move(wake));
    if (last) die();
    ++watches_;
    return watch;
  }

 private:
  [[noreturn]] static void die() {
    ::kill(::getpid(), SIGKILL);
    std::abort();
  }
  bool is_last() { return ++calls_ == last_; }

  template <class Reply>
  Call<Reply> counted(Call<Reply> call) {
    if (!is_last()) return call;
    if (dies_ == Dies::asking) die();
    const TimePoint deadline = call.deadline();
    return relay<Reply>(deadline, [unheard = std::move(call)](Reply) { die(); });
  }

  const int last_;
  const Dies dies_;
  std::atomic<int> calls_ = 0;
  std::atomic<int> watches_ = 0;
};

// Arguments: URL, name of the lock, lease in ms, the last call (0: none is), how it dies.
// Tells its fences, at the end how many calls there were.
const Role kDiesAtACall("dies at a call", [](Parent& parent, const Words& arguments) {
  const std::string& url = arguments.at(0);
  const std::chrono::milliseconds lease(std::stoi(arguments.at(2)));
  const int last = std::stoi(arguments.at(3));
  const Dies dies = arguments.at(4) == "asking" ? Dies::asking : Dies::answered;
  LastCallStore* asked = nullptr;
  const Client client = connect_to([&](const auto& clock, auto& loop) -> OpenedClient {
    OpenedClient opened = open_by_url(url, clock, loop);
    auto store = std::make_unique<LastCallStore>(std::move(opened.store), last, dies);
    asked = store.get();
    return {opened.id, std::move(store)};
  });
  const Mutex mutex = client.mutex(arguments.at(1));
  const Client other_client = connect(url).value();
  const Mutex other = other_client.mutex(arguments.at(1));

  {
    Hold hold = mutex.acquire({.lease = lease}).value();
    parent.tell(text_of(hold.fence()));
    const TimePoint first = hold.valid_until();
    eventually([&] { return hold.valid_until() != first; });  // renewed, or lost
    static_cast<void>(hold.release());
  }
  {
    const Hold held = other.acquire({.wait = kSoon, .lease = lease}).value();
    parent.tell(text_of(held.fence()));
    static_cast<void>(mutex.acquire({.wait = lease / 5, .lease = lease}));
  }
  {
    std::optional<Hold> held(other.acquire({.wait = kSoon, .lease = lease}).value());
    const int watches = asked->watches();
    auto pending = mutex.async_acquire({.lease = lease});
    eventually([&] { return asked->watches() > watches; });
    held.reset();
    Hold hold = std::move(pending).get_for(kSoon).value();
    parent.tell(text_of(hold.fence()));
    static_cast<void>(hold.release());
  }
  parent.tell("calls " + std::to_string(asked->calls()));
});

// One that will die.
struct Victim {
  std::string lock;
  ChildProcess process;
  FencingToken greatest{};
};

class Victims {
 public:
  Victims(std::string url, std::chrono::milliseconds lease) : url_(std::move(url)), lease_(lease) {}

  Victim start(int last, const std::string& dies) const {
    const std::string lock = "lock-" + std::to_string(last) + "-" + dies;
    return {lock, ChildProcess(kDiesAtACall, {url_, lock, std::to_string(lease_.count()),
                                              std::to_string(last), dies})};
  }

  // How many calls there are if nobody dies.
  int calls() const {
    Victim nobody = start(0, "asking");
    std::string line;
    while (!(line = nobody.process.hear()).empty()) {
      if (line.starts_with("calls ")) return std::stoi(line.substr(6));
    }
    return 0;
  }

 private:
  const std::string url_;
  const std::chrono::milliseconds lease_;
};

// Whether it died; what it told before is noted.
bool died(Victim& victim) {
  std::string line;
  while (!(line = victim.process.hear()).empty() && !line.starts_with("calls ")) {
    victim.greatest = std::max(victim.greatest, fence_from(line));
  }
  return victim.process.exit_code() == -1;
}

}  // namespace

void expect_served_whichever_call_was_the_last(const std::string& url,
                                               std::chrono::milliseconds lease) {
  const Victims victims(url, lease);
  const int calls = victims.calls();
  ASSERT_GE(calls, 10) << "an acquire, a renewal, a release … were not all asked";
  std::deque<Victim> all;
  for (int last = 1; last <= calls; ++last) {
    for (const char* dies : {"asking", "answered"}) all.push_back(victims.start(last, dies));
  }
  const auto survivors = std::erase_if(all, [](Victim& each) { return !died(each); });
  // A renewal more or less is a matter of time.
  EXPECT_LE(survivors, 4U);

  const Client client = connect(url).value();
  const Stopwatch watch;
  std::vector<Pending<Hold>> waiting;
  for (const Victim& each : all) {
    waiting.push_back(client.mutex(each.lock).async_acquire());
  }
  std::vector<Hold> holds;
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].lock);
    auto next = std::move(waiting[i]).get_for(kSoon);
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_GT(next->fence(), all[i].greatest);
    holds.push_back(*std::move(next));
  }
  std::printf("%zu died at %d calls, the last next one was served after %lld ms\n", all.size(),
              calls, static_cast<long long>(watch.elapsed().count()));
  EXPECT_LT(watch.elapsed(), 2 * lease + std::chrono::seconds(5));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto seen = client.inspect(all[i].lock);
    ASSERT_TRUE(seen && seen->size() == 1) << all[i].lock;
    EXPECT_EQ(seen->front().holders.size(), 1U) << all[i].lock;
    EXPECT_EQ(seen->front().line.size(), 0U) << all[i].lock;
    EXPECT_TRUE(holds[i].verify()) << all[i].lock;
  }
}

}  // namespace holdfast::test
