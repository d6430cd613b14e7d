#pragma once

namespace holdfast::cli {

// Turns INT, TERM and HUP into a Refusal at the next check(), and a reader who went into one of
// print(), so that whatever was started and written goes as it does at a normal end. One at a time;
// before other threads start.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static void check();
};

}  // namespace holdfast::cli
