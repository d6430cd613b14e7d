#include "cli/run/run_options.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>

#include <fcntl.h>

#include "cli/lock_names.hpp"
#include "cli/refusal.hpp"
#include "cli/run/signal_name.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

Duration duration_from(const Arguments& arguments, std::string_view option, Duration otherwise) {
  const auto text = arguments.value(option);
  if (!text) return otherwise;
  if (const auto length = parse_duration(*text)) return *length;
  throw Refusal(exit_code::kBadData, "--" + std::string(option) + " \"" + shown(*text) +
                                         "\" is not a duration; say 500ms, 5s, 2m or 1h30m");
}

// The command is told to end so early that the grace is over when the lease is. More than half of the
// lease would leave no time for renewals.
Duration grace_from(const Arguments& arguments, Duration lease) {
  const Duration grace = duration_from(arguments, "grace", std::min<Duration>(10s, lease / 3));
  if (grace >= Duration::zero() && grace <= lease / 2) return grace;
  throw Refusal(exit_code::kBadData,
                "--grace is at most half of the lease, which is " + duration_text(lease));
}

int number_from(const Arguments& arguments, std::string_view option, int otherwise, int most) {
  const auto text = arguments.value(option);
  if (!text) return otherwise;
  int number = -1;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || rest != end || number < 0 || number > most) {
    throw UsageError("--" + std::string(option) + " is a number from 0 to " + std::to_string(most) +
                     ", not \"" + shown(*text) + "\"");
  }
  return number;
}

std::vector<std::string> names_from(const Arguments& arguments) {
  std::vector<std::string> names = split_names(the_word(arguments, "run"));
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw UsageError("\"" + shown(*twice) + "\" is there twice");
  return names;
}

std::vector<std::string> command_from(const Arguments& arguments) {
  const auto line = arguments.value("command");
  if (line && arguments.has_command()) throw UsageError("either -c 'string' or -- CMD, not both");
  if (line) return {"/bin/sh", "-c", *line};
  if (!arguments.has_command() || arguments.command().empty()) {
    throw UsageError("what to run? holdfast run NAME -- CMD [ARGS...]");
  }
  return arguments.command();
}

Duration wait_from(const Arguments& arguments) {
  const auto text = arguments.value("wait");
  const Duration wait = text == "forever" ? kForever : duration_from(arguments, "wait", kForever);
  if (!arguments.has("nonblock")) return wait;
  if (text && wait != Duration::zero())
    throw UsageError("--nonblock and --wait exclude each other");
  return Duration::zero();
}

Duration lease_from(const Arguments& arguments) {
  const Duration lease = duration_from(arguments, "lease", 30s);
  if (lease < kMinLease || lease > kMaxLease) {
    throw Refusal(exit_code::kBadData,
                  "invalid_lease: --lease is 100ms to 24h, not " + duration_text(lease));
  }
  return lease;
}

int on_lost_from(const Arguments& arguments) {
  const std::string text = arguments.value("on-lost").value_or("term");
  if (text == "ignore") return 0;
  if (const auto signal = signal_number(text)) return *signal;
  throw UsageError("--on-lost is term, kill, ignore or a signal, not \"" + shown(text) + "\"");
}

std::optional<int> status_fd_from(const Arguments& arguments) {
  if (!arguments.has("status-fd")) return std::nullopt;
  const int descriptor = number_from(arguments, "status-fd", -1, 1 << 20);
  if (fcntl(descriptor, F_GETFL) < 0) {
    throw UsageError("--status-fd " + std::to_string(descriptor) + " is not open");
  }
  return descriptor;
}

std::string message_from(const Arguments& arguments) {
  std::string message = arguments.value("message").value_or("");
  if (message.size() > kMaxReason) {
    throw Refusal(exit_code::kBadData,
                  "--message has more than " + std::to_string(kMaxReason) + " bytes");
  }
  return message;
}

}  // namespace

RunOptions RunOptions::from(const Arguments& arguments) {
  const std::vector<std::string> names = names_from(arguments);
  RunOptions options{.names = names,
                     .name = joined_names(names),
                     .command = command_from(arguments),
                     .store = ChosenStore(arguments),
                     .message = message_from(arguments),
                     .status_fd = status_fd_from(arguments)};
  options.mode = RunMode::from(arguments);
  options.wait = wait_from(arguments);
  options.lease = lease_from(arguments);
  options.renew = !arguments.has("no-renew");
  if (!options.renew && names.size() > 1) {
    throw UsageError(
        "--no-renew is for one NAME: the first of several would lapse while the next "
        "is waited for");
  }
  options.order = arguments.has("fifo") ? Order::fifo : Order::any;
  options.busy_exit_code = number_from(arguments, "busy-exit-code", exit_code::kBusy, 255);
  options.on_lost = on_lost_from(arguments);
  options.grace = grace_from(arguments, options.lease);
  options.quiet = arguments.has("quiet");
  options.verbose = arguments.has("verbose");
  options.json = arguments.has("json");
  options.dry_run = arguments.has("dry-run");
  return options;
}

std::vector<Option> RunOptions::options() {
  return {
      {'n', "nonblock", "", "do not wait: exit 75 if somebody else holds it"},
      {'w', "wait", "DUR", "wait that long at most, then exit 75; 0 is -n; default: for ever"},
      {'l', "lease", "DUR", "how long the lock survives a silent holder; default 30s"},
      {'\0', "no-renew", "", "let the lease run out: CMD has that long and no longer"},
      {'E', "busy-exit-code", "N", "instead of 75"},
      {'\0', "fifo", "", "strict order of arrival"},
      {'\0', "on-lost", "WHAT", "term, kill, a signal, or ignore (only warn); default term"},
      {'\0', "grace", "DUR", "from that signal to SIGKILL; default 10s or a third of the lease"},
      {'m', "message", "TEXT", "why you hold it: shown to whoever waits"},
      kStoreOption,
      {'c', "command", "STRING", "run STRING by /bin/sh -c instead of CMD"},
      {'q', "quiet", "", "say nothing about waiting and being busy"},
      {'v', "verbose", "", "say when the lock was acquired and released"},
      {'\0', "dry-run", "", "say what would happen and change nothing"},
      {'\0', "status-fd", "FD", "write one JSON line there at the end"},
      {'\0', "json", "", "say everything as JSON lines, on standard error"},
      {'s', "shared", "", "together with others that say -s; whoever says -x waits"},
      {'x', "exclusive", "", "alone, where others say -s"},
      {'p', "permits", "K/N", "take K of N permits; all who use NAME say the same N"},
      {'u', "upgradeable", "", "together with -s, but one at a time"},
  };
}

AcquireOptions RunOptions::acquire_options() const {
  AcquireOptions acquire;
  acquire.wait = wait;
  acquire.lease = lease;
  acquire.renew = renew;
  acquire.order = order;
  acquire.reason = message;
  return acquire;
}

}  // namespace holdfast::cli
