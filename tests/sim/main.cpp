// holdfast-sim: thousands of schedules of the real engine and driver in a world of faults.

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>

#include "arguments.hpp"
#include "many_seeds.hpp"
#include "minimise.hpp"
#include "planted_bugs.hpp"

namespace {

using namespace holdfast::sim;
namespace check = holdfast::check;

// What shows the same again, up to the seed.
std::string command_of(const char* program, const Arguments& arguments) {
  return std::string(program) + (arguments.bug.empty() ? "" : " --bug " + arguments.bug);
}

bool draw(const Verdict& verdict, const std::string& where) {
  const check::Timeline timeline{verdict.history, verdict.befell, verdict.report.violations};
  if (where == "text") {
    std::cout << check::timeline_text(timeline);
    return true;
  }
  std::ofstream file(where);
  file << check::timeline_svg(timeline);
  if (file.flush()) return true;
  std::cerr << "cannot write " << where << "\n";
  return false;
}

int show(const Arguments& arguments, const Selection& only) {
  const Verdict verdict =
      run_schedule(*arguments.one, arguments.trace ? &std::cout : nullptr, only);
  if (!arguments.trace) std::cout << check::to_text(verdict.report);
  if (!arguments.timeline.empty() && !draw(verdict, arguments.timeline)) return 2;
  return verdict.report.ok() ? 0 : 1;
}

int minimise_one(const Arguments& arguments, const std::string& command) {
  const Verdict whole = run_schedule(*arguments.one, nullptr);
  const auto* const violation = first_violation(whole.report);
  if (violation == nullptr) {
    std::cout << "seed " << *arguments.one << " violates nothing: there is nothing to minimise\n";
    return 0;
  }
  const auto minimum = minimise(*arguments.one, violates(violation->rule));
  std::cout << check::name_of(violation->rule) << " is violated by " << to_text(*minimum, command)
            << "\n";
  return show(arguments, minimum->only);
}

// Seeds by chance are short enough to be typed.
std::uint64_t any_seed() { return std::random_device()(); }

int run_many(const Arguments& arguments, const std::string& command) {
  ManySeeds many{.first = arguments.first ? *arguments.first : any_seed(), .jobs = arguments.jobs};
  if (arguments.hours) {
    many.no_longer_than = std::chrono::seconds(static_cast<long>(*arguments.hours * 3600));
  }
  const bool counted = arguments.seeds || !arguments.hours;
  if (counted) many.count = arguments.seeds.value_or(1000);
  Progress progress(
      {.command = command,
       .goal = counted ? std::to_string(many.count) : "any number of",
       .one_line = isatty(STDERR_FILENO) != 0},
      [](std::string_view text) { std::cerr << text << std::flush; },
      std::chrono::steady_clock::now());
  if (!arguments.first) std::cerr << "from seed " << many.first << " on\n";
  const Summary summary = run_seeds(many, &progress);
  std::cout << summary.text();
  // A few schedules need not have met everything.
  const bool thorough = summary.schedules < 10'000 || summary.thorough();
  if (!thorough) std::cout << "a fault or a sort of schedule was too rare: see the tables\n";
  std::cout << "schedules: " << summary.schedules << ", events: " << summary.events
            << ", violating schedules: " << summary.failures.size() << "\n";
  return summary.ok() && thorough ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments || arguments->help) {
    std::fputs(kHelp, arguments ? stdout : stderr);
    return arguments ? 0 : 64;
  }
  if (arguments->all_bugs) {
    return catch_all(arguments->first.value_or(any_seed()), arguments->seeds.value_or(50'000));
  }
  if (!arguments->bug.empty() && !plant(arguments->bug)) {
    std::fprintf(stderr, "no planted bug \"%s\" in this program\n", arguments->bug.c_str());
    return 64;
  }
  const std::string command = command_of(argv[0], *arguments);
  if (!arguments->one) return run_many(*arguments, command);
  return arguments->minimise ? minimise_one(*arguments, command)
                             : show(*arguments, arguments->only);
}
