#pragma once

#include <vector>

#include <sys/types.h>

namespace holdfast::cli {

// One line of the process table.
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';
  long threads = 1;

  // The first thread of a process may have ended before the others.
  bool alive() const { return (state != 'Z' && state != 'X') || threads > 1; }
};

// The process table, from /proc. It is old as soon as it is read.
std::vector<Process> all_processes();

// Everybody below `root`, which is not among them.
std::vector<Process> descendants_of(pid_t root, const std::vector<Process>& all);

// How many of a process group are alive.
std::size_t living_members(pid_t group, const std::vector<Process>& all);

}  // namespace holdfast::cli
