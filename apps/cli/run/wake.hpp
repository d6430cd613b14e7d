#pragma once

#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/descriptor.hpp"

namespace holdfast::cli {

// Wakes a poll() from another thread.
class Wake {
 public:
  Wake() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  int descriptor() const { return event_.get(); }
  void set() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(event_.get(), &one, sizeof one);
  }
  void clear() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t length = read(event_.get(), &count, sizeof count);
  }

 private:
  Descriptor event_;
};

}  // namespace holdfast::cli
