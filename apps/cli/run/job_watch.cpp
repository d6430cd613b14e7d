#include "cli/run/job_watch.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <stop_token>

#include <poll.h>
#include <sys/wait.h>

#include "cli/boot_now.hpp"
#include "cli/guard/end_descendants.hpp"
#include "cli/run/signal_name.hpp"
#include "cli/run/wake.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// A guardian that does not end the job in time (somebody has stopped it) is ended with it.
constexpr Duration kGuardMayTake = 3s;
constexpr Duration kSayLeftBehindAfter = 1s;

class JobWatch {
 public:
  JobWatch(StartedGuard& guard, const RunHolds& holds, const RunOptions& options, Signals& signals,
           JobTerminal& terminal, RunTalk& talk)
      : guard_(guard),
        holds_(holds),
        options_(options),
        signals_(signals),
        terminal_(terminal),
        talk_(talk),
        on_lost_(holds.lost(), Tell{&wake_}) {}

  JobEnd run() {
    while (!gone_) {
      tell_deadline();
      sleep();
      read_signals();
      look_at_hold();
      read_news();
      look_at_time();
      if (!gone_ && guard_.link.broken()) end_after_guard();
    }
    waitpid(guard_.pid, nullptr, 0);
    terminal_.take_back();
    return end_;
  }

 private:
  struct Tell {
    const Wake* wake;
    void operator()() const { wake->set(); }
  };

  // The guardian ends the job at the end of the lease, even if this process is stopped then.
  void tell_deadline() {
    const TimePoint until = holds_.valid_until();
    if (end_.lost || until == told_ || holds_.lost().stop_requested()) return;
    told_ = until;
    guard_.link.send({Instruction::What::until, until.time_since_epoch().count()});
  }

  void sleep() {
    // Often enough to tell of each renewal long before the deadline that was told last.
    const Duration tick = std::clamp<Duration>(options_.lease / 12, 5ms, 1s);
    pollfd files[] = {{signals_.descriptor(), POLLIN, 0},
                      {wake_.descriptor(), POLLIN, 0},
                      {guard_.link.descriptor(), POLLIN, 0}};
    poll(files, std::size(files), static_cast<int>(tick / 1ms));
    wake_.clear();
  }

  void read_signals() {
    while (const auto signal = signals_.next()) {
      if (*signal == SIGCHLD) continue;  // the link tells more
      if (*signal == SIGTSTP) stop_wanted_ = true;
      pass_on(*signal);
    }
  }

  void pass_on(int signal) { guard_.link.send({Instruction::What::signal, signal}); }

  void look_at_hold() {
    if (holds_.lost().stop_requested()) lose("the lock is not ours any more");
  }

  void lose(const std::string& why) {
    if (std::exchange(end_.lost, true)) return;
    const std::string job = shown(options_.command[0]);
    end_.lost_name = holds_.lost_name();
    const std::string name = shown(end_.lost_name.empty() ? options_.name : end_.lost_name);
    if (options_.on_lost == 0) {
      talk_.lost(name + ": " + why + "; " + job + " goes on (--on-lost ignore)");
      return;
    }
    // Told before said: whoever reads stderr may be slow.
    guard_.link.send({Instruction::What::lost, 0});
    talk_.lost(name + ": " + why + "; ending " + job + " by " + signal_name(options_.on_lost) +
               ", by SIGKILL after " + duration_text(options_.grace));
    give_up_at_ = later(boot_now(), options_.grace + kGuardMayTake);
  }

  void read_news() {
    while (const auto news = guard_.link.receive()) on_news(*news);
  }

  void on_news(const News& news) {
    switch (news.what) {
      case News::What::started:
        job_ = static_cast<pid_t>(news.value);
        terminal_.started(job_);
        break;
      case News::What::not_forked:
        end_.fork_error = static_cast<int>(news.value);
        gone_ = true;
        break;
      case News::What::not_started:
        end_.start_error = static_cast<int>(news.value);
        break;
      case News::What::stopped:
        on_stopped(static_cast<int>(news.value));
        break;
      case News::What::continued:
        break;
      case News::What::ended:
        end_.wait_status = static_cast<int>(news.value);
        ended_at_ = boot_now();
        break;
      case News::What::left_behind:
        left_behind_ = news.value;
        break;
      case News::What::expired:
        lose("it could not be renewed");
        break;
      case News::What::gone:
        gone_ = true;
        break;
    }
  }

  void on_stopped(int signal) {
    const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
    if (wants_terminal && terminal_.give_to(job_)) return pass_on(SIGCONT);
    // ^Z reached the job, by the terminal or through us: the shell waits for us to stop, too. A job
    // that was stopped in another way is let alone, and its lock is renewed.
    const bool had_terminal = terminal_.given();
    if (!had_terminal && !std::exchange(stop_wanted_, false)) return;
    terminal_.take_back();
    kill(had_terminal ? 0 : getpid(), SIGSTOP);
    // Here we are again: in the foreground or in the background.
    if (had_terminal) terminal_.give_to(job_);
    pass_on(SIGCONT);
  }

  void look_at_time() {
    const TimePoint now = boot_now();
    if (left_behind_ > 0 && !said_left_behind_ && now - ended_at_ >= kSayLeftBehindAfter) {
      said_left_behind_ = true;
      talk_.left_behind(left_behind_);
    }
    if (!gone_ && now >= give_up_at_) end_after_guard();
  }

  // The guardian is dead or does not react. Orphans of its have become ours.
  void end_after_guard() {
    end_.guard_died = true;
    end_descendants([](pid_t, int) {});
    gone_ = true;
  }

  StartedGuard& guard_;
  const RunHolds& holds_;
  const RunOptions& options_;
  Signals& signals_;
  JobTerminal& terminal_;
  RunTalk& talk_;
  Wake wake_;
  std::stop_callback<Tell> on_lost_;
  JobEnd end_;
  pid_t job_ = 0;
  TimePoint told_{};
  TimePoint ended_at_{};
  TimePoint give_up_at_ = kNever;
  std::int64_t left_behind_ = 0;
  bool said_left_behind_ = false;
  bool stop_wanted_ = false;
  bool gone_ = false;
};

}  // namespace

JobEnd watch_job(StartedGuard& guard, const RunHolds& holds, const RunOptions& options,
                 Signals& signals, JobTerminal& terminal, RunTalk& talk) {
  return JobWatch(guard, holds, options, signals, terminal, talk).run();
}

}  // namespace holdfast::cli
