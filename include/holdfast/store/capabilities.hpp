#pragma once

namespace holdfast::store {

// What a store can do. Nothing is emulated silently: a call that needs what is false here answers
// Errc::unsupported.
struct Capabilities {
  bool mutex_any = false;
  bool mutex_fifo = false;
  bool shared = false;
  bool downgrade = false;
  bool upgradeable = false;
  bool permits = false;
  bool cells = false;
  bool hand_over = false;  // a released lock goes straight to the head of the line
  bool inspect = false;

  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

}  // namespace holdfast::store
