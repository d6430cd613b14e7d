#include "torture/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace holdfast::torture {

using namespace std::chrono_literals;

Progress::Progress() : terminal_(::isatty(2) == 1) {}

void Progress::show(const State& state) {
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? 200ms : 5000ms)) return;
  shown_ = now;
  const double gone = std::chrono::duration<double>(now - start_).count();
  const double left = state.ops == 0 ? 0
                                     : gone * static_cast<double>(state.of_ops - state.ops) /
                                           static_cast<double>(state.ops);
  std::fprintf(
      stderr,
      "%s%llu of %llu acquires, %llu of %llu faults, %llu updates lost without fences; "
      "%.0f s, about %.0f s left; judged at the end%s",
      terminal_ ? "\r" : "", static_cast<unsigned long long>(state.ops),
      static_cast<unsigned long long>(state.of_ops), static_cast<unsigned long long>(state.faults),
      static_cast<unsigned long long>(state.of_faults),
      static_cast<unsigned long long>(state.lost_in_twin), gone, left, terminal_ ? "\x1b[K" : "\n");
}

void Progress::say(const char* text) {
  clear();
  std::fprintf(stderr, "%s%s", text, terminal_ ? "" : "\n");
}

void Progress::clear() {
  if (terminal_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace holdfast::torture
