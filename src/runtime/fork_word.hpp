#pragma once

#include <cstdint>

namespace holdfast::runtime {

// Tells a process from its children. A number, the generation, lies on a page that the kernel wipes
// in every child (MADV_WIPEONFORK), whichever way the child was made: pthread_atfork would miss a
// bare clone(2). An object remembers the generation it was made in; in a child that is not current.
//
// Guarantees   A generation is never 0, and none that a process makes for itself equals one that it
//              inherited in an object. A child may enter() and make objects of its own.
// Blocking     is_current() reads two words of memory: no lock, no system call. It may come first
//              in any function, before a mutex that the parent may have held while it forked.
// Threads      From any thread.
class ForkWord {
 public:
  static std::uint64_t enter() noexcept;
  static bool is_current(std::uint64_t generation) noexcept;
};

}  // namespace holdfast::runtime
