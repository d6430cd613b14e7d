// The history of one worker, in a file of its own.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "checker/history_text.hpp"
#include "runtime/boot_clock.hpp"

namespace holdfast::torture {

using check::kNever;
using check::Time;

inline Time boot_now() { return runtime::BootClock().now().time_since_epoch().count(); }

// Each record is one write(2): a process that is killed leaves whole lines.
//
// An acquire is written when it is invoked, again when it is answered, and again when its hold has
// ended; the last line of an operation counts, and merge() completes what a dead process left open.
//
// Threads      From any thread: the file is opened for appending.
class Log {
 public:
  explicit Log(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (file_ < 0) throw std::runtime_error("cannot write " + path);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() { ::close(file_); }

  template <class Record>
  void add(const Record& record) {
    std::ostringstream text;
    check::write(text, record);
    const std::string line = text.str();
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      throw std::runtime_error("the history cannot be written");
    }
  }

 private:
  int file_;
};

}  // namespace holdfast::torture
