#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::torture {

// What the conductor and all workers see, in a SharedPage. Nothing that is killed or stopped leaves it in
// a bad state: each word is changed by one instruction.
struct Board {
  std::atomic<std::uint64_t> taken;    // acquires that have begun
  std::atomic<std::uint64_t> allowed;  // that may begin before the next faults have struck
  std::atomic<std::uint64_t> ops;      // in all

  enum class Turn : std::uint8_t { go, wait, over };
  Turn take() {
    std::uint64_t before = taken;
    do {
      if (before >= ops) return Turn::over;
      if (before >= allowed) return Turn::wait;
    } while (!taken.compare_exchange_weak(before, before + 1));
    return Turn::go;
  }
};

}  // namespace holdfast::torture
