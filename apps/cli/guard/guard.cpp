#include "cli/guard/guard.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/boot_now.hpp"
#include "cli/exit_code.hpp"
#include "cli/guard/end_descendants.hpp"
#include "cli/guard/processes.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// How often a group that was left behind is counted: members that leave it give no sign.
constexpr Duration kCountEvery = 100ms;

int wait_status_of(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? (info.si_status & 0xFF) << 8 : info.si_status & 0x7F;
}

void set_close_on_exec(int descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

}  // namespace

Guard::Guard(GuardPlan plan)
    : plan_(std::move(plan)), link_(Descriptor(plan_.socket)), until_(plan_.until) {}

int Guard::run() {
  prepare();
  if (boot_now() >= end_job_at()) {  // we were late: the job would only begin to be ended
    link_.send({News::What::expired, 0});
    finish();
    return exit_code::kDone;
  }
  if (!start_job()) {
    link_.send({News::What::not_forked, errno});
    return exit_code::kOsError;
  }
  while (!finished_) {
    wait_for_news();
    read_start();
    read_orders();
    if (link_.broken()) {  // `run` is dead: whoever waits for the lock waits for us now
      end_everything();
      break;
    }
    look_after_job();
    look_at_time();
  }
  return exit_code::kDone;
}

void Guard::prepare() {
  set_close_on_exec(plan_.socket);
  if (plan_.terminal >= 0) set_close_on_exec(plan_.terminal);
  guard_ = getpid();
  prctl(PR_SET_NAME, "holdfast-guard");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A group of its own: neither a kill of run's group nor ^C at the terminal is meant for it.
  setpgid(0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  children_ = Descriptor(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_ = Descriptor(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

bool Guard::start_job() {
  int ends[2];
  if (!children_ || !timer_ || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  start_ = Descriptor(ends[0]);
  const Descriptor error_end(ends[1]);
  job_ = fork();
  if (job_ == 0) become_job(error_end.get());
  if (job_ > 0) setpgid(job_, job_);  // whichever of us is first
  return job_ > 0;
}

void Guard::become_job(int error_pipe) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard_) _exit(exit_code::kOsError);  // it died before the line above
  if (plan_.terminal >= 0) tcsetpgrp(plan_.terminal, getpid());

  // Dispositions were never changed, so the job has those that run was started with: nohup works.
  sigset_t mask;
  sigemptyset(&mask);
  for (int signal = 1; signal <= 64; ++signal) {
    if ((plan_.signal_mask >> (signal - 1) & 1) != 0) sigaddset(&mask, signal);
  }
  sigprocmask(SIG_SETMASK, &mask, nullptr);

  std::vector<char*> arguments;
  for (std::string& word : plan_.command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof error);
  _exit(exit_code_of_exec(error));
}

void Guard::wait_for_news() {
  arm_timer();
  pollfd files[] = {{link_.descriptor(), POLLIN, 0},
                    {children_.get(), POLLIN, 0},
                    {timer_.get(), POLLIN, 0},
                    {start_.get(), POLLIN, 0}};  // negative when done: poll() skips it
  poll(files, std::size(files), -1);
  signalfd_siginfo ignored;
  while (read(children_.get(), &ignored, sizeof ignored) > 0) {
  }
}

void Guard::arm_timer() {
  TimePoint next = kill_at_ ? kNever : end_job_at();
  if (kill_at_) next = std::min(next, *kill_at_);
  if (state_ == Job::ended) next = std::min(next, boot_now() + kCountEvery);
  itimerspec time{};
  if (next != kNever) {
    const auto since = std::max<Duration>(next.time_since_epoch(), 1ns);  // 0 would disarm it
    time.it_value.tv_sec = since / 1s;
    time.it_value.tv_nsec = (since % 1s).count();
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &time, nullptr);
}

// So early that the grace is over when the lease is, and nobody else can have the lock before.
TimePoint Guard::end_job_at() const {
  if (plan_.on_lost == 0 || until_ == kNever) return kNever;
  return until_ <= TimePoint() ? TimePoint() : until_ - plan_.grace;  // a lost one ended at min()
}

void Guard::read_start() {
  if (!start_) return;
  int error = 0;
  const ssize_t length = read(start_.get(), &error, sizeof error);
  if (length < 0) return;
  start_.close();
  if (length == 0) {
    state_ = Job::running;
    link_.send({News::What::started, job_});
  } else {
    link_.send({News::What::not_started, error});
    finish();
  }
}

void Guard::read_orders() {
  while (const auto order = link_.receive()) {
    switch (order->what) {
      case Instruction::What::signal:
        signal_group(static_cast<int>(order->value));
        break;
      case Instruction::What::until:
        until_ = TimePoint(Duration(order->value));
        break;
      case Instruction::What::lost:
        end_job();
        break;
    }
  }
}

// The job itself is looked at but not reaped: as long as it is a zombie nobody else can get its
// number, so signals to its group cannot hit a stranger.
void Guard::look_after_job() {
  if (finished_ || state_ == Job::starting) return;
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(job_), &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
         info.si_pid != 0) {
    link_.send_if_heard(
        {info.si_code == CLD_CONTINUED ? News::What::continued : News::What::stopped,
         info.si_status});
    info = {};
  }
  info = {};
  if (state_ == Job::running &&
      waitid(P_PID, static_cast<id_t>(job_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid != 0) {
    state_ = Job::ended;
    link_.send({News::What::ended, wait_status_of(info)});
  }
  reap_strangers();
  if (state_ == Job::ended) look_at_group();
}

// Orphans of the job that came to us and have ended.
void Guard::reap_strangers() {
  if (state_ != Job::ended) {
    siginfo_t info{};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
           info.si_pid != job_) {
      waitpid(info.si_pid, nullptr, 0);
      info = {};
    }
    return;
  }
  for (const Process& process : all_processes()) {
    if (process.parent == guard_ && process.pid != job_ && !process.alive()) {
      waitpid(process.pid, nullptr, WNOHANG);
    }
  }
}

void Guard::look_at_group() {
  const auto members = static_cast<std::int64_t>(living_members(job_, all_processes()));
  if (members == 0) {
    // Who has lost the lock may leave nobody behind, wherever they went.
    if (kill_at_) return end_everything();
    waitpid(job_, nullptr, 0);
    return finish();
  }
  if (members != left_behind_) link_.send_if_heard({News::What::left_behind, members});
  left_behind_ = members;
}

void Guard::look_at_time() {
  if (finished_) return;
  const TimePoint now = boot_now();
  if (kill_at_) {
    if (now >= *kill_at_) end_everything();
  } else if (now >= end_job_at()) {
    // `run` would have told us of a renewal: it is stopped, or as late as we are.
    link_.send({News::What::expired, 0});
    end_job();
  }
}

void Guard::end_job() {
  if (kill_at_ || plan_.on_lost == 0) return;
  kill_at_ = later(boot_now(), plan_.grace);
  signal_group(plan_.on_lost);
  signal_group(SIGCONT);  // a stopped job could not act on it
}

void Guard::end_everything() {
  signal_group(SIGKILL);
  end_descendants([this](pid_t pid, int status) {
    if (pid == job_ && state_ != Job::ended) link_.send({News::What::ended, status});
  });
  finish();
}

void Guard::finish() {
  finished_ = true;
  link_.send({News::What::gone, 0});
}

void Guard::signal_group(int signal) const { kill(-job_, signal); }

}  // namespace holdfast::cli
