// Other processes for tests that need real ones. Beside the test that wants such a process:
//
//   const Role kHolder("holder", [](Parent& parent, const Words& arguments) {
//     …
//     parent.tell("held");
//     parent.hear();
//   });
//
// and in it ChildProcess holder(kHolder, {url}).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/soon.hpp"

namespace holdfast::test {

using Words = std::vector<std::string>;

// Lines from one process to another.
class Lines {
 public:
  Lines(int in, int out) : in_(in), out_(out) {}

  // A line, or nothing if the other side is gone or silent for so long.
  std::optional<std::string> hear(std::chrono::milliseconds patience = kSoon);
  void tell(const std::string& line) const;

 private:
  int in_;
  int out_;
  std::string heard_;
};

// What a child process sees of the test: never silent by itself, and the child dies with it.
class Parent : public Lines {
 public:
  Parent() : Lines(0, 1) {}
  std::optional<std::string> hear() { return Lines::hear(std::chrono::hours(1)); }
};

// Something this program can be started as.
class Role {
 public:
  using Play = std::function<void(Parent&, const Words&)>;
  Role(std::string name, Play play);
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// Plays the role that the command line asks for, if it does; then this is the process's exit code.
// main.cpp, beside this file, begins with it.
std::optional<int> run_role(int argc, char** argv);

// This program, started anew (so it has no threads or descriptors of this one) in a role; or another
// one. What it says on its standard output is heard, what it hears on its standard input was told.
//
// Lifetime     Killed and reaped at its end.
// Threads      One at a time.
class ChildProcess {
 public:
  explicit ChildProcess(const Role& role, const Words& arguments = {});
  // Another program, found in the path; `environment` ("NAME=value") is added to ours.
  explicit ChildProcess(const Words& command, const Words& environment = {});
  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) noexcept;
  ~ChildProcess() { kill(); }

  pid_t pid() const { return pid_; }
  bool running() const;  // it has not ended by itself
  // "" if it ended or is silent for `patience`.
  std::string hear(std::chrono::milliseconds patience = kSoon);
  void tell(const std::string& line) const { lines_.tell(line); }

  void signal(int) const;
  void stop() const;  // until SIGCONT; it stands when this returns
  void kill();        // -9; it is gone when this returns
  int exit_code();    // waits for its end; -1 if a signal ended it or it does not end

 private:
  void start(const Words& command, const Words& environment);
  void close_pipes();

  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  Lines lines_{-1, -1};
};

}  // namespace holdfast::test
