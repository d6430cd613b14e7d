#include "torture/options.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace holdfast::torture {
namespace {

constexpr std::uint64_t kMostProcesses = 64;
constexpr std::uint64_t kMostOps = 10'000'000;

std::optional<std::uint64_t> number_from(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct Range {
  std::uint64_t least;
  std::uint64_t most;
};

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Parsed read() {
    Options& to = parsed_.options;
    while (at_ < arguments_.size() && parsed_.error.empty()) {
      option_ = arguments_[at_++];
      if (option_ == "--help") {
        to.help = true;
      } else if (option_ == "--json") {
        to.json = true;
      } else if (option_ == "--store") {
        word(to.url);
      } else if (option_ == "--report") {
        word(to.report);
      } else if (option_ == "--bug") {
        word(to.bug);
      } else if (option_ == "--seed") {
        number(to.seed, {0, UINT64_MAX});
      } else if (option_ == "--ops") {
        number(to.ops, {1, kMostOps});
      } else if (option_ == "--faults") {
        number(to.faults, {0, kMostOps});
        to.faults_chosen = true;
      } else if (option_ == "--processes") {
        number(to.processes, {1, kMostProcesses});
      } else if (option_ == "--lease") {
        std::uint64_t lease = 0;
        number(lease, {300, 60'000});  // some leases are a third of it, and 100 ms is the least
        to.lease = std::chrono::milliseconds(lease);
      } else {
        parsed_.error = "there is no option " + option_;
      }
    }
    if (!to.faults_chosen) to.faults = to.ops / 20;
    if (parsed_.error.empty() && to.faults > to.ops) {
      parsed_.error = "--faults is greater than --ops: a fault needs something to befall";
    }
    return parsed_;
  }

 private:
  void word(std::string& to) {
    if (at_ == arguments_.size() || arguments_[at_].empty()) {
      parsed_.error = option_ + " needs a value";
    } else {
      to = arguments_[at_++];
    }
  }
  template <class N>
  void number(N& to, Range range) {
    std::string text;
    word(text);
    if (!parsed_.error.empty()) return;
    const auto found = number_from(text);
    if (!found || *found < range.least || *found > range.most) {
      parsed_.error = option_ + " wants a number from " + std::to_string(range.least) + " to " +
                      std::to_string(range.most) + ", not \"" + text + "\"";
      return;
    }
    to = static_cast<N>(*found);
  }

  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  std::string option_;
  Parsed parsed_;
};

// For a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

Parsed parse(const std::vector<std::string>& arguments) { return Reader(arguments).read(); }

std::string command_line(const Options& options) {
  std::string line = "holdfast-torture";
  line += " --store " + quoted(options.url) + " --seed " + std::to_string(options.seed) +
          " --ops " + std::to_string(options.ops) + " --faults " + std::to_string(options.faults) +
          " --processes " + std::to_string(options.processes) + " --lease " +
          std::to_string(options.lease.count());
  if (!options.bug.empty()) line += " --bug " + options.bug;
  return line;
}

std::string help_text() {
  return "holdfast-torture: real processes use locks of one store while faults befall them, and a\n"
         "checker judges what they saw.\n"
         "\n"
         "  --store URL        the store (sqlite:{}/locks.db); {} is a folder made for the run, "
         "of\n"
         "                     redis://{} a server\n"
         "  --seed S           what is done, and which faults come (1)\n"
         "  --ops N            acquires in all (1000)\n"
         "  --faults N         faults in all (one for each twenty acquires)\n"
         "  --processes P      processes that use the store (4)\n"
         "  --lease MS         the usual lease; some are a third of it (600)\n"
         "  --report FOLDER    writes report.txt, report.json, timeline.svg and history.txt there\n"
         "  --json             prints the report as JSON\n"
         "\n"
         "The same seed and options give the same faults in the same order, and the same choices "
         "of\n"
         "each worker. The moments at which they meet are the machine's, and differ.\n"
         "\n"
         "Exit: 0 no rule was broken, 1 one was, 2 it could not be run, 64 bad arguments.\n";
}

}  // namespace holdfast::torture
