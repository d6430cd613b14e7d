#pragma once

namespace holdfast::runtime {

// Between two looks at something that another processor is about to change.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace holdfast::runtime
