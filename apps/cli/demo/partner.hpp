#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "cli/descriptor.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// This program once more, in a process of its own that inherits nothing: `holdfast WORDS…`. The two
// talk in lines, over what is the partner's standard input and output. It finds the store in
// $HOLDFAST_URL, since others can read the arguments of a process. Killed at the end if it still runs.
class Partner {
 public:
  Partner(const std::vector<std::string>& words, const std::string& store_url);
  Partner(Partner&&) = delete;
  ~Partner();

  pid_t pid() const { return pid_; }
  void tell(std::string_view line);
  // Throws Refusal if the partner ends or says nothing for so long.
  std::string hear(Duration patience);
  // Throws Refusal unless it ends well. What it still says is dropped.
  void wait_for_end(Duration patience);

  void kill();   // SIGKILL, and until it is gone
  void stop();   // SIGSTOP, and until it stands still
  void go_on();  // SIGCONT

 private:
  bool read_more(TimePoint until);  // false: there will be no more
  [[noreturn]] void failed();

  pid_t pid_ = 0;  // 0: gone
  Descriptor socket_;
  std::string received_;
};

// In the partner: end with whoever started us. Throws UsageError if that was not this program.
void serve_partner();

// In the partner: the next line; empty if the other side is gone.
std::string hear_from_starter();

}  // namespace holdfast::cli
