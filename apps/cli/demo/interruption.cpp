#include "cli/demo/interruption.hpp"

#include <csignal>
#include <string>

#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

volatile std::sig_atomic_t g_signal = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

void set(int signal, void (*handler)(int)) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;  // nohup
  action = {};
  action.sa_handler = handler;  // no SA_RESTART: whoever waits is to look
  sigaction(signal, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  g_signal = 0;
  for (const int signal : kSignals) {
    set(signal, [](int number) { g_signal = number; });
  }
  set(SIGPIPE, [](int) {});  // then print() tells, as of a full disk
}

Interruption::~Interruption() {
  for (const int signal : kSignals) set(signal, SIG_DFL);
  set(SIGPIPE, SIG_DFL);
}

void Interruption::check() {
  const int signal = g_signal;
  if (signal != 0) {
    throw Refusal(exit_code::kSignal + signal, "stopped by signal " + std::to_string(signal));
  }
}

}  // namespace holdfast::cli
