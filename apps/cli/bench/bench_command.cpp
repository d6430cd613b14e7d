#include <cmath>
#include <cstdio>

#include <unistd.h>

#include "cli/bench/rounds.hpp"
#include "cli/chosen_store.hpp"
#include "cli/command.hpp"
#include "cli/demo/interruption.hpp"
#include "cli/demo/scratch_folder.hpp"
#include "cli/json.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/terminal.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr double kAloneGoal = 0.8;  // of the raw rate
constexpr double kThreadsGoal = 3.0;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

double ms_of(Duration length) { return std::chrono::duration<double, std::milli>(length).count(); }

Duration at(const std::vector<Duration>& sorted, double part) {
  if (sorted.empty()) return {};
  const auto index = static_cast<std::size_t>(static_cast<double>(sorted.size()) * part);
  return sorted[std::min(index, sorted.size() - 1)];
}

// The file of a sqlite: URL; where embedded: lies is that store's business.
std::string path_of(std::string_view url) {
  constexpr std::string_view kScheme = "sqlite:";
  if (!url.starts_with(kScheme)) return {};
  url.remove_prefix(kScheme.size());
  return std::string(url.substr(0, url.find('?')));
}

struct Report {
  std::string store;
  const Rates& rates;
  const ClientOptions& options;
};

std::string goal_text(const Terminal& terminal, double ratio, double goal) {
  const bool met = std::round(ratio * 100) >= goal * 100;  // as it is shown
  const char* const mark = terminal.unicode() ? (met ? " ✓" : " ✗") : (met ? " ok" : " no");
  return terminal.paint(met ? Color::green : Color::yellow, format("  goal %.1f", goal) + mark);
}

std::string line(const Terminal& terminal, const std::string& what,
                 const std::vector<double>& rates, const std::vector<double>& raw, double goal) {
  std::string text = format("  %-36s%8.0f pairs/s", what.c_str(), median(rates));
  if (!raw.empty()) {
    const double ratio = median_ratio(rates, raw);
    text += format("  %5.2f x raw", ratio);
    if (goal > 0) text += goal_text(terminal, ratio, goal);
  }
  return text + "\n";
}

std::string human_text(const Report& report, const Terminal& terminal) {
  const Rates& rates = report.rates;
  const auto& waits = rates.rival_waits;
  const std::string threads = std::to_string(kBenchThreads) + " threads, one lock";
  std::string text = "store " + report.store + "\n\n";
  if (rates.raw.empty()) {
    text += "  raw: left out; only on sqlite: files, where it is two statements\n";
  } else {
    text += line(terminal, "raw: the two statements in SQL", rates.raw, {}, 0);
  }
  text += line(terminal, "one thread, acquire() and release()", rates.alone, rates.raw, kAloneGoal);
  text += line(terminal, threads, rates.threads, rates.raw, kThreadsGoal);
  text += line(terminal, "the same, and a rival process", rates.rivalled, rates.raw, 0);
  text +=
      format("\n  the rival waited  %.2fms median, %.2fms p99, %.2fms longest of %zu\n",
             ms_of(at(waits, 0.5)), ms_of(at(waits, 0.99)), ms_of(at(waits, 1.0)), waits.size());
  text +=
      format("  hand-off budget   %u hand-offs or %.0fms, then the other process has its turn\n",
             report.options.handoff_count, ms_of(report.options.handoff_time));
  return text;
}

Json to_json(const std::vector<double>& rates, const std::vector<double>& raw) {
  Json json;
  json["pairs_per_second"] = median(rates);
  if (!raw.empty()) json["of_raw"] = median_ratio(rates, raw);
  json["rounds"] = rates;
  return json;
}

std::string machine_text(const Report& report) {
  const Rates& rates = report.rates;
  Json json;
  json["schema"] = kJsonSchema;
  json["store"] = report.store;
  json["raw"] = rates.raw.empty() ? Json() : to_json(rates.raw, {});
  json["one_thread"] = to_json(rates.alone, rates.raw);
  json["threads"] = to_json(rates.threads, rates.raw);
  json["threads"]["count"] = kBenchThreads;
  json["threads_with_rival"] = to_json(rates.rivalled, rates.raw);
  const auto seconds = [](Duration length) { return ms_of(length) / 1000; };
  json["rival_waits"] = {{"count", rates.rival_waits.size()},
                         {"p50", seconds(at(rates.rival_waits, 0.5))},
                         {"p99", seconds(at(rates.rival_waits, 0.99))},
                         {"max", seconds(at(rates.rival_waits, 1.0))}};
  json["handoff_count"] = report.options.handoff_count;
  json["handoff_time"] = seconds(report.options.handoff_time);
  return json_text(json) + "\n";
}

int bench(const Arguments& arguments) {
  if (!arguments.words().empty() && (arguments.has("store") || arguments.words().size() > 1)) {
    throw UsageError("bench measures one store");
  }
  const auto given = arguments.words().empty() ? arguments.value("store") : arguments.words()[0];
  const auto time = parse_duration(arguments.value("seconds").value_or("8"));
  if (!time || *time < 100ms || *time > 1h) {
    throw Refusal(exit_code::kBadData, "--seconds is from 0.1 to 3600, not \"" +
                                           shown(*arguments.value("seconds")) + "\"");
  }
  const Terminal terminal(STDOUT_FILENO, arguments);
  const Interruption interruption;
  const ScratchFolder scratch;
  const ChosenStore store(given.value_or("sqlite:" + (scratch.path() / "locks.db").string()));
  if (store.url().starts_with("memory:")) {
    throw Refusal(exit_code::kConfiguration, "memory: lives in one process; bench measures two");
  }
  const ClientOptions options;
  const Client client = store.connect(options);
  const Rates rates = run_rounds(
      client, {.store_url = store.url(), .raw_path = path_of(store.url()), .time = *time});
  const Report report{given ? store.shown_url() : "sqlite: (a temporary file)", rates, options};
  print(arguments.has("json") ? machine_text(report) : human_text(report, terminal));
  return exit_code::kDone;
}

}  // namespace

Command bench_command() {
  return {.name = "bench",
          .synopsis = "bench [options] [URL]",
          .summary = "measure a store: pairs of acquire and release in a second",
          .options = {{'S', "store", "URL", "a store of yours; without it a temporary file"},
                      {'\0', "seconds", "N", "how long it may take; 8 without it"},
                      {'\0', "json", "", "as JSON"}},
          .run = bench,
          .notes =
              "Takes and releases locks of its own. Short slices of each measurement alternate; "
              "what is\nshown are medians.\n"};
}

}  // namespace holdfast::cli
