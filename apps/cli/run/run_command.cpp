// holdfast run: wait for the lock, start the command under a guardian, stay until all of it is gone,
// release. What belongs to each step is in the files of those names beside this one.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/boot_now.hpp"
#include "cli/command.hpp"
#include "cli/guard/start_guard.hpp"
#include "cli/lock_names.hpp"
#include "cli/refusal.hpp"
#include "cli/run/busy_text.hpp"
#include "cli/run/dry_run.hpp"
#include "cli/run/job_environment.hpp"
#include "cli/run/job_watch.hpp"
#include "cli/run/run_holds.hpp"
#include "cli/run/run_options.hpp"
#include "cli/run/run_report.hpp"
#include "cli/run/run_talk.hpp"
#include "cli/run/signal_name.hpp"
#include "cli/run/waiting.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

using Outcome = RunReport::Outcome;

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

class Run {
 public:
  Run(const RunOptions& options, RunTalk& talk) : options_(options), talk_(talk) {}

  RunReport execute() {
    try {
      // Whoever waits wants to know what is run, not that it was run by holdfast.
      const std::string job = std::filesystem::path(options_.command.front()).filename().string();
      Client client = options_.store.connect({.program = job});
      RunHolds holds;
      if (acquire(client, holds)) work(client, holds);
    } catch (const Refusal& refusal) {
      report_.outcome = Outcome::error;
      report_.code = refusal.code();
      report_.text = refusal.what();
    }
    return report_;
  }

 private:
  // All of them, one after the other, within the time for one.
  bool acquire(const Client& client, RunHolds& holds) {
    const TimePoint start = boot_now();
    const TimePoint until = later(start, options_.wait);
    for (;;) {
      const bool all = acquire_each(client, until, holds);
      report_.waited = boot_now() - start;
      if (all && worth_starting(holds)) return true;
      const bool lost = all || is_lost(holds);
      const std::string name = holds.lost_name();
      static_cast<void>(holds.release());
      if (!lost || report_.outcome == Outcome::interrupted) return false;
      // Nothing was done yet under a lock that went while we waited for another: once more, then.
      if (boot_now() >= until) {
        fail(Outcome::busy, options_.busy_exit_code,
             "busy: " + shown(name.empty() ? options_.name : name) +
                 " was lost while the others were waited for   (exit " +
                 std::to_string(options_.busy_exit_code) + ")");
        return false;
      }
      holds = RunHolds();
      report_ = {};
      report_.waited = boot_now() - start;
    }
  }

  bool acquire_each(const Client& client, TimePoint until, RunHolds& holds) {
    for (const std::string& name : options_.names) {
      const bool limited = options_.wait != kForever && report_.waited > Duration::zero();
      const Duration wait = limited ? left_until(until, boot_now()) : options_.wait;
      if (!acquire_next(client, {name, wait, holds.lost()}, holds)) return false;
    }
    return true;
  }

  static bool is_lost(const RunHolds& holds) {
    return holds.lost().stop_requested() || holds.valid_until() <= boot_now();
  }

  // The first of several may be old by now: its lease should not end the command before it began.
  bool worth_starting(const RunHolds& holds) const {
    if (holds.count() == 1) return true;
    return holds.verify() && !is_lost(holds) &&
           left_until(holds.valid_until(), boot_now()) > grace(holds);
  }

  // What the command has left after its signal. Some stores give a lease in parts, as far as they know that a session
  // lives: then a third of such a part, or it would be told to end before the next part can come.
  Duration grace(const RunHolds& holds) const {
    const Duration given = left_until(holds.valid_until(), boot_now());
    return given >= options_.lease * 9 / 10 ? options_.grace : std::min(options_.grace, given / 3);
  }

  bool acquire_next(const Client& client, const WaitFor& what, RunHolds& holds) {
    Sight sight(host_name(), getpid());
    WaitEnd end = wait_for_lock(client, what, options_, signals_, talk_, sight);
    report_.waited += end.waited;
    if (end.signal != 0) {
      report_.outcome = Outcome::interrupted;
      report_.code = exit_code::kSignal + end.signal;
      report_.text = signal_name(end.signal) + ": gave up waiting for " + shown(what.name);
      return false;
    }
    if (*end.result) {
      holds.add(std::move(**end.result));
      return true;
    }
    if (!what.given_up.stop_requested()) refused(client, what.name, end.result->error(), sight);
    return false;
  }

  void refused(const Client& client, const std::string& name, const Error& error, Sight& sight) {
    if (error.errc() != Errc::busy && error.errc() != Errc::timed_out) throw Refusal(error);
    const auto place = sight.place();
    if (!sight.anything() && !options_.quiet) {  // the store has just answered: one more question
      if (const auto found = client.inspect(pattern_of(name))) {
        sight.saw(found->empty() ? std::nullopt : std::optional(found->front()), boot_now());
      }
    }
    report_.outcome = Outcome::busy;
    report_.code = options_.busy_exit_code;
    report_.text = busy_text({.name = name,
                              .wait = options_.wait,
                              .exit_code = options_.busy_exit_code,
                              .sight = &sight,
                              .last_place = place},
                             error, boot_now(), wall_now());
  }

  void work(const Client& client, RunHolds& holds) {
    const TimePoint start = boot_now();
    report_.fence = holds.first_fence();
    if (holds.count() > 1) report_.fences = holds.fences();
    talk_.acquired(holds, report_.waited);

    // Should the guardian die, its orphans come to us.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    JobTerminal terminal;
    GuardPlan plan;
    plan.lifeline = client.lifeline();
    plan.terminal = terminal.give_at_start();
    plan.signal_mask = signals_.original_mask();
    plan.on_lost = options_.on_lost;
    RunOptions options = options_;
    options.grace = plan.grace = grace(holds);
    plan.until = holds.valid_until();  // it may be stopped before it hears from us
    plan.command = options_.command;
    StartedGuard guard = start_guard(std::move(plan), job_environment(options_, holds));
    const JobEnd end = watch_job(guard, holds, options, signals_, terminal, talk_);

    judge(end);
    report_.held = boot_now() - start;
    release(holds);
  }

  void judge(const JobEnd& end) {
    const std::string job = shown(options_.command[0]);
    report_.lost = end.lost;
    if (end.wait_status) report_.exit = exit_code_of_wait(*end.wait_status);
    if (end.fork_error != 0) {
      fail(Outcome::error, exit_code::kOsError,
           "cannot start a process: " + std::string(std::strerror(end.fork_error)));
    } else if (end.start_error != 0) {
      fail(Outcome::not_started, exit_code_of_exec(end.start_error),
           job + ": " + std::strerror(end.start_error));
    } else if (end.lost && options_.on_lost != 0) {
      fail(Outcome::lost, exit_code::kLost,
           "lost " + shown(end.lost_name.empty() ? options_.name : end.lost_name) + " while " +
               job + " ran; it was ended   (exit 80)");
    } else if (end.guard_died || !end.wait_status) {
      fail(Outcome::error, exit_code::kOsError,
           "the guardian of " + job + " was killed; the command was ended");
    } else {
      report_.outcome = Outcome::exited;
      report_.code = *report_.exit;
    }
  }

  void fail(Outcome outcome, int code, const std::string& text) {
    report_.outcome = outcome;
    report_.code = code;
    report_.text = text;
  }

  void release(RunHolds& holds) {
    const auto released = holds.release();
    if (released) return talk_.released();
    const Errc why = released.error().errc();
    if (why == Errc::lost || why == Errc::forced) {
      const bool news = !std::exchange(report_.lost, true);
      // It was not ours to the end, and nobody had told us in time: what the command did may have
      // been done by another, too.
      if (news && options_.on_lost != 0 && report_.outcome == Outcome::exited) {
        fail(Outcome::lost, exit_code::kLost, released.error().text() + "   (exit 80)");
      }
    } else if (report_.text.empty()) {
      report_.text = "not released: " + released.error().text() + "; it lapses within " +
                     duration_text(options_.lease);
    }
  }

  const RunOptions& options_;
  RunTalk& talk_;
  Signals signals_;  // before the client: its threads inherit the mask
  RunReport report_;
};

void write_status(int descriptor, const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

int run(const Arguments& arguments) {
  const RunOptions options = RunOptions::from(arguments);
  if (options.dry_run) return dry_run(options);
  // Its reader shall see the end when we end, not when the last process that the command left does.
  if (options.status_fd > STDERR_FILENO) fcntl(*options.status_fd, F_SETFD, FD_CLOEXEC);

  RunTalk talk(options, Terminal(STDERR_FILENO, arguments));
  const RunReport report = Run(options, talk).execute();
  talk.end(report);
  if (options.status_fd) {
    write_status(*options.status_fd,
                 json_text(to_json(report, options.name, options.store.shown_url())) + "\n");
  }
  return report.code;
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .synopsis = "run [options] NAME[,NAME...] -- CMD [ARGS...]",
          .summary = "run a command while holding a lock, or several",
          .options = RunOptions::options(),
          .run = run,
          .after_dashes = AfterDashes::command,
          .notes =
              "Durations: 500ms, 5s, 2m, 1h30m; a plain number is seconds.\n"
              "CMD finds HOLDFAST_LOCK, HOLDFAST_FENCE and more in its environment.\n"
              "Exit codes: holdfast help EXITCODES. What a lock can promise: holdfast help "
              "SAFETY.\n"};
}

}  // namespace holdfast::cli
