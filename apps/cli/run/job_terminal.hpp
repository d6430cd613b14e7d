#pragma once

#include <sys/types.h>

#include "cli/descriptor.hpp"

namespace holdfast::cli {

// The controlling terminal, if there is one. Its foreground is one process group; the job has a group
// of its own and must be given the foreground to read keys.
//
// It is given at once if run was started by itself on a terminal. In a pipeline or a script others of
// our group may need it, so there the job gets it when it asks for it (it is stopped by SIGTTIN or
// SIGTTOU), and ^C reaches it because run passes the signal on.
class JobTerminal {
 public:
  JobTerminal();
  ~JobTerminal() { take_back(); }
  JobTerminal(const JobTerminal&) = delete;
  JobTerminal& operator=(const JobTerminal&) = delete;

  // For the guardian to hand over before the job begins; -1: not now.
  int give_at_start();
  void started(pid_t group) { group_ = given_at_start_ ? group : 0; }

  bool give_to(pid_t group);  // false: it is not ours to give
  void take_back();
  bool given() const { return group_ != 0; }

 private:
  bool is_ours() const;

  Descriptor file_;
  bool given_at_start_ = false;
  pid_t group_ = 0;  // that has it from us
};

}  // namespace holdfast::cli
