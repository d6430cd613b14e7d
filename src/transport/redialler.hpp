#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "holdfast/result.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/store/random.hpp"
#include "transport/fd.hpp"
#include "transport/stream.hpp"
#include "transport/worker.hpp"

namespace holdfast::transport {

// How often in a row a connection broke as soon as it was made: something says hello there and hangs up.
class ShortLives {
 public:
  explicit ShortLives(TimePoint now = {}) : since_(now) {}
  void begin(TimePoint now) { since_ = now; }
  int end(TimePoint now) {
    return count_ = now - since_ < kShort ? std::min(count_ + 1, kMost) : 0;
  }

 private:
  static constexpr Duration kShort = std::chrono::seconds(1);
  static constexpr int kMost = 4;  // a hold has to be renewed whenever there is a connection
  TimePoint since_;
  int count_ = 0;
};

// Makes connections to replace those that broke, on a thread of its own: dialling blocks. After each
// failure it waits for a random time that grows, so that a thousand clients whose server was restarted
// do not keep it down.
//
// Guarantees   `done` is called once on the loop with a stream, or not at all after stop(); `failed` with
//              every attempt that failed, before the next one. Where there is no thread or no memory for
//              an attempt, it is made later.
// On error     dial() throws std::bad_alloc if it cannot even note what is wanted.
// Threads      All members from any thread; stop() not on the worker.
class Redialler {
 public:
  // One attempt: connects and introduces us, and blocks until it is done, `until`, or `give_up` becomes
  // readable.
  using Dial = std::function<Result<std::unique_ptr<Stream>>(TimePoint until, int give_up)>;

  struct Parts {
    Dial dial;        // runs on the worker, one at a time
    Duration within;  // an attempt may take so long
    const store::Clock& clock;
    store::Loop& loop;
    store::Random& random;
  };
  struct Wanted {
    std::function<void(std::unique_ptr<Stream>)> done;
    std::function<void(const Error&)> failed;
    int failures = 0;  // before: ShortLives
  };

  explicit Redialler(Parts);
  ~Redialler() { stop(); }

  // False: no descriptor was left for it. It must not be used.
  bool complete() const { return static_cast<bool>(give_up_); }

  void dial(Wanted);
  void stop();

 private:
  struct Attempt {
    Wanted wanted;
    int failures = 0;
  };

  void try_once(const std::shared_ptr<Attempt>&);
  bool post(const std::shared_ptr<Attempt>&);
  void work(const std::shared_ptr<Attempt>&);
  void try_later(const std::shared_ptr<Attempt>&);
  bool stops_within(Duration) const;

  const Parts parts_;
  const Fd give_up_;  // eventfd
  std::mutex mutex_;
  bool stopped_ = false;
  std::set<store::TimerId> timers_;
  Worker worker_;
};

}  // namespace holdfast::transport
