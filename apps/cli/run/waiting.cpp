#include "cli/run/waiting.hpp"

#include <algorithm>
#include <csignal>
#include <memory>
#include <mutex>
#include <stop_token>

#include <poll.h>

#include "cli/boot_now.hpp"
#include "cli/run/lookout.hpp"
#include "cli/run/wake.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// An acquire that goes short is answered before anybody needs to be told of its neighbours.
constexpr Duration kLookAfter = 200ms;
// Whoever presses ^C is let go, even if the store does not answer: the claim lapses by itself.
constexpr Duration kLeaveWithin = 2s;

// Where the client's thread puts the result. It may come after we have left.
struct Mailbox {
  Wake wake;
  std::mutex mutex;
  std::optional<Result<Hold>> result;

  void put(Result<Hold> value) {
    const std::lock_guard lock(mutex);
    result.emplace(std::move(value));
    wake.set();
  }
  std::optional<Result<Hold>> take() {
    wake.clear();
    const std::lock_guard lock(mutex);
    return std::exchange(result, std::nullopt);
  }
};

class Waiting {
 public:
  Waiting(const Client& client, const WaitFor& what, const RunOptions& options, Signals& signals,
          RunTalk& talk, Sight& sight)
      : client_(client),
        what_(what),
        options_(options),
        signals_(signals),
        talk_(talk),
        sight_(sight) {
    talk_.start_waiting();
    due_ = talk_.next_line(Duration::zero());
  }

  WaitEnd run() {
    AcquireOptions acquire = options_.acquire_options();
    acquire.wait = what_.wait;
    acquire.stop = stop_.get_token();
    const std::stop_callback give_up(what_.given_up, [this] { stop_.request_stop(); });
    options_.mode.acquire(client_, what_.name, std::move(acquire))
        .then([box = mailbox_](Result<Hold> result) { box->put(std::move(result)); });

    for (;;) {
      sleep();
      auto result = mailbox_->take();
      // A hold that was granted after all is released as `result` goes.
      if (signal_ != 0 && (result || boot_now() >= leave_at_)) return end(std::nullopt);
      if (result) return end(std::move(result));
      read_signals();
      look();
    }
  }

 private:
  WaitEnd end(std::optional<Result<Hold>> result) {
    talk_.clear_line();
    return {std::move(result), signal_, waited()};
  }

  Duration waited() const { return boot_now() - start_; }

  void sleep() {
    TimePoint next = later(start_, talk_.next_line(waited()));
    if (!lookout_) next = std::min(next, later(start_, kLookAfter));
    if (signal_ != 0) next = std::min(next, leave_at_);
    const Duration left = left_until(next, boot_now());
    const Duration pause = std::clamp<Duration>(left, 1ms, 1h);
    pollfd files[] = {{mailbox_->wake.descriptor(), POLLIN, 0},
                      {signals_.descriptor(), POLLIN, 0},
                      {lookout_ ? lookout_->descriptor() : -1, POLLIN, 0}};
    poll(files, std::size(files), static_cast<int>(pause / 1ms));
  }

  void read_signals() {
    while (const auto signal = signals_.next()) {
      if (*signal == SIGTSTP) {
        talk_.clear_line();
        raise(SIGSTOP);  // ours is blocked; our place in line may lapse meanwhile
      }
      if (signal_ == 0 && Signals::ends_us(*signal)) {
        signal_ = *signal;
        leave_at_ = boot_now() + kLeaveWithin;
        stop_.request_stop();
      }
    }
  }

  void look() {
    const Duration so_far = waited();
    if (!lookout_ && so_far >= kLookAfter && what_.wait != Duration::zero()) {
      lookout_.emplace(client_, what_.name);
    }
    if (lookout_) {
      if (const auto look = lookout_->take()) sight_.saw(look->lock, look->at);
    }
    if (signal_ == 0 && so_far >= due_) {
      talk_.waiting({what_.name, so_far, what_.wait}, sight_, boot_now());
      due_ = talk_.next_line(so_far);
    }
  }

  const Client& client_;
  const WaitFor& what_;
  const RunOptions& options_;
  Signals& signals_;
  RunTalk& talk_;
  Sight& sight_;
  const TimePoint start_ = boot_now();
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  Duration due_{};
  std::stop_source stop_;
  std::optional<Lookout> lookout_;
  int signal_ = 0;
  TimePoint leave_at_{};
};

}  // namespace

WaitEnd wait_for_lock(const Client& client, const WaitFor& what, const RunOptions& options,
                      Signals& signals, RunTalk& talk, Sight& sight) {
  return Waiting(client, what, options, signals, talk, sight).run();
}

}  // namespace holdfast::cli
