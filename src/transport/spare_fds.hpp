#pragma once

#include <sys/eventfd.h>

#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include "transport/fd.hpp"

namespace holdfast::transport {

// Descriptors kept back for a process that runs out of them, so that whoever is there can go on. (Another
// thread may be quicker to take what is given up here; then there is one less.)
//
// Threads      One at a time.
class SpareFds {
 public:
  explicit SpareFds(std::size_t count) : count_(count) {
    spare_.reserve(count);
    refill();
  }

  bool complete() const { return spare_.size() == count_; }

  // The descriptor that attempt() answers; if there are none left, as many of these are given up as it
  // takes. errno is the last attempt's.
  template <class Attempt>
  Fd open(Attempt attempt) {
    while (true) {
      Fd fd(attempt());
      if (fd || (errno != EMFILE && errno != ENFILE) || spare_.empty()) return fd;
      spare_.pop_back();
    }
  }

  // While somebody may need them: what was given up and is free again by its end is kept back anew.
  class Use {
   public:
    explicit Use(SpareFds& spare) : spare_(spare) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { spare_.refill(); }

   private:
    SpareFds& spare_;
  };

 private:
  void refill() {
    while (spare_.size() < count_) {
      Fd spare(::eventfd(0, EFD_CLOEXEC));
      if (!spare) return;
      spare_.push_back(std::move(spare));
    }
  }

  const std::size_t count_;
  std::vector<Fd> spare_;
};

}  // namespace holdfast::transport
