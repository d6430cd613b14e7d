#pragma once

#include <cstdint>

namespace holdfast::store::directory {

// Moments at which a test may hold a store up, end its process, or lie to it. In production nothing
// happens at them.
class Steps {
 public:
  enum class Step : std::uint8_t {
    prepared,   // the claim has a private file
    decided,    // the last look has found the lock free; nothing is published yet
    published,  // it is a generation; nobody was told yet
    beaten,     // a sign of life is written; the look that follows is not made yet
    cleaning,   // what will be removed is known; nothing is removed yet
  };

  virtual ~Steps() = default;
  virtual void at(Step) {}
  // What link(2) said to the publisher, as an error number.
  virtual int link_said(int error) { return error; }
};

}  // namespace holdfast::store::directory
