#pragma once

#include <optional>

#include <sys/types.h>

#include "cli/descriptor.hpp"
#include "cli/guard/guard_plan.hpp"
#include "cli/guard/messages.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// The process between `run` and its job. It is a process of its own because nothing inside `run`
// survives a kill -9 of `run`, and because it may fork freely: it has one thread.
//
// Guarantees   The job and all its descendants are gone before it exits, if `run` dies or the lock is
//              lost. It holds the lifeline until then, so no other gets the lock early. If it dies
//              itself, the kernel kills the job, and `run` the rest.
// Lifetime     After the job has ended by itself it stays until the job's process group is empty.
//              Descendants that left the group are then none of its business.
class Guard {
 public:
  explicit Guard(GuardPlan);
  int run();  // the exit code; `run` learns everything else by message

 private:
  enum class Job { starting, running, ended };

  void prepare();
  bool start_job();
  [[noreturn]] void become_job(int error_pipe);
  void wait_for_news();
  void read_start();
  void read_orders();
  void look_after_job();
  void reap_strangers();
  void look_at_group();
  void look_at_time();
  void end_job();
  void end_everything();
  void finish();
  void arm_timer();
  TimePoint end_job_at() const;
  void signal_group(int signal) const;

  GuardPlan plan_;
  GuardLink link_;
  Descriptor children_;  // signalfd of SIGCHLD
  Descriptor timer_;     // CLOCK_BOOTTIME, as leases are
  Descriptor start_;     // errno of execvp(), or its end when that has succeeded
  pid_t guard_ = 0;
  pid_t job_ = 0;
  Job state_ = Job::starting;
  std::int64_t left_behind_ = 0;
  TimePoint until_;
  std::optional<TimePoint> kill_at_;  // the job was told to end
  bool finished_ = false;
};

}  // namespace holdfast::cli
