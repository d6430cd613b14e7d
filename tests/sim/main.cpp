// holdfast-sim: thousands of schedules of the real engine and driver in a world of faults.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "planted_bugs.hpp"
#include "summary.hpp"

namespace {

constexpr const char* kHelp =
    "holdfast-sim                    run 1000 schedules\n"
    "  --seeds N                     run N schedules\n"
    "  --first-seed S                begin with seed S (default 1)\n"
    "  --seed S [--trace]            run one; --trace prints every event\n"
    "  --jobs J                      threads (default: all cores)\n"
    "holdfast-sim-planted            the same over an engine with planted bugs\n"
    "  --bug NAME                    with this one; seeds as above\n"
    "  --all [--seeds N]             each of them, until it is caught or N schedules went by\n";

struct Arguments {
  std::uint64_t seeds = 0;
  std::uint64_t first = 1;
  std::optional<std::uint64_t> one;
  bool trace = false;
  bool all_bugs = false;
  std::string bug;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

std::optional<std::uint64_t> number(const char* text) {
  char* end = nullptr;
  const unsigned long long value = text != nullptr ? std::strtoull(text, &end, 10) : 0;
  if (end == nullptr || end == text || *end != '\0') return std::nullopt;
  return value;
}

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--trace") {
      arguments.trace = true;
      continue;
    }
    if (option == "--all") {
      arguments.all_bugs = true;
      continue;
    }
    const char* value = ++i < argc ? argv[i] : nullptr;
    if (option == "--bug" && value != nullptr) {
      arguments.bug = value;
      continue;
    }
    const auto parsed = number(value);
    if (!parsed) return false;
    if (option == "--seeds") {
      arguments.seeds = *parsed;
    } else if (option == "--first-seed") {
      arguments.first = *parsed;
    } else if (option == "--seed") {
      arguments.one = *parsed;
    } else if (option == "--jobs") {
      arguments.jobs = std::max(1U, static_cast<unsigned>(*parsed));
    } else {
      return false;
    }
  }
  return true;
}

int run_one(std::uint64_t seed, bool trace) {
  const auto verdict = holdfast::sim::run_schedule(seed, trace ? &std::cout : nullptr);
  if (!trace) std::cout << holdfast::check::to_text(verdict.report);
  return verdict.report.ok() ? 0 : 1;
}

int run_many(const Arguments& arguments) {
  const std::uint64_t count = arguments.seeds == 0 ? 1000 : arguments.seeds;
  const auto summary = holdfast::sim::run_seeds(arguments.first, count, arguments.jobs, true);
  std::fputs(summary.text().c_str(), stdout);
  // A few schedules need not have met everything.
  const bool thorough = count < 10'000 || summary.thorough();
  if (!thorough) std::puts("a fault or a sort of schedule was too rare: see the tables");
  std::printf("schedules: %llu, events: %llu, violating schedules: %zu\n",
              static_cast<unsigned long long>(summary.schedules),
              static_cast<unsigned long long>(summary.events), summary.failures.size());
  return summary.ok() && thorough ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fputs(kHelp, stderr);
    return 64;
  }
  if (arguments.all_bugs) {
    return holdfast::sim::catch_all(arguments.first,
                                    arguments.seeds == 0 ? 50'000 : arguments.seeds);
  }
  if (!arguments.bug.empty() && !holdfast::sim::plant(arguments.bug)) {
    std::fprintf(stderr, "no planted bug \"%s\" in this program\n", arguments.bug.c_str());
    return 64;
  }
  return arguments.one ? run_one(*arguments.one, arguments.trace) : run_many(arguments);
}
