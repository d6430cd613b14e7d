#include <algorithm>

#include "cli/chosen_store.hpp"
#include "cli/command.hpp"
#include "cli/doctor/round_trips.hpp"
#include "cli/json.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/terminal.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

const char* level_name(Finding::Level level) {
  switch (level) {
    case Finding::Level::fact:
      return "ok";
    case Finding::Level::warning:
      return "warning";
    case Finding::Level::problem:
      return "problem";
  }
  return "?";
}

std::string fine_text(Duration length) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fms",
                std::chrono::duration<double, std::milli>(length).count());
  return text;
}

Finding as_finding(const Result<RoundTrips>& measured) {
  if (!measured) return {Finding::Level::problem, "round trip", measured.error().text()};
  const RoundTrips& trips = *measured;
  const Duration lease = suggested_lease(trips.slowest);
  return {.level = Finding::Level::fact,
          .subject = "round trip",
          .text = "median " + fine_text(trips.median) + ", slowest " + fine_text(trips.slowest) +
                  " of " + std::to_string(trips.count) + "; a lease of " + duration_text(lease) +
                  " or more suits it"};
}

// The text is ready to be shown.
std::string line_of(const Finding& finding, const std::string& text, const Terminal& terminal) {
  const bool fact = finding.level == Finding::Level::fact;
  const Color color = fact                                       ? Color::green
                      : finding.level == Finding::Level::warning ? Color::yellow
                                                                 : Color::red;
  std::string level = level_name(finding.level);
  level.resize(9, ' ');
  std::string subject = shown(finding.subject);
  if (subject.size() < 18) subject.resize(18, ' ');
  return terminal.paint(color, level) + subject + " " + text + "\n";
}

// The first one is ours, and may quote an error, whose text can be shown as it is.
std::string human_text(const std::vector<Finding>& findings, const Terminal& terminal) {
  std::string text = line_of(findings.front(), findings.front().text, terminal);
  for (auto it = findings.begin() + 1; it != findings.end(); ++it) {
    text += line_of(*it, shown(it->text), terminal);
  }
  return text;
}

std::string machine_text(const std::vector<Finding>& findings, const Result<RoundTrips>& trips,
                         const std::string& store) {
  Json json;
  json["schema"] = kJsonSchema;
  json["store"] = store;
  if (trips) {
    json["round_trip_median"] = std::chrono::duration<double>(trips->median).count();
    json["round_trip_slowest"] = std::chrono::duration<double>(trips->slowest).count();
    json["suggested_lease"] = seconds_of(suggested_lease(trips->slowest));
  }
  json["findings"] = Json::array();
  for (const Finding& finding : findings) {
    Json one;
    one["level"] = level_name(finding.level);
    one["subject"] = finding.subject;
    one["text"] = finding.text;
    json["findings"].push_back(std::move(one));
  }
  return json_text(json) + "\n";
}

int doctor(const Arguments& arguments) {
  if (arguments.words().size() > 1) throw UsageError("doctor looks at one store");
  const Terminal terminal(1, arguments);
  const ChosenStore store =
      arguments.words().empty() ? ChosenStore(arguments) : ChosenStore(arguments.words()[0]);
  const Client client = store.connect();
  auto findings = client.examine();
  if (!findings) throw Refusal(findings.error());
  constexpr int kRounds = 20;
  const auto trips = measure_round_trips(client, kRounds);
  // If no lock can be taken, the findings may say why.
  findings->insert(findings->begin(), as_finding(trips));
  if (arguments.has("json")) {
    print(machine_text(*findings, trips, store.shown_url()));
  } else {
    print("store " + store.shown_url() + "\n" + human_text(*findings, terminal));
  }
  if (!trips) return exit_code_of(trips.error().errc());
  const bool problem = std::any_of(findings->begin(), findings->end(), [](const Finding& finding) {
    return finding.level == Finding::Level::problem;
  });
  return problem ? exit_code::kUnavailable : exit_code::kDone;
}

}  // namespace

Command doctor_command() {
  return {
      .name = "doctor",
      .synopsis = "doctor [options] [URL]",
      .summary = "examine a store: rights, settings, round trips, a fitting lease",
      .options = {kStoreOption, {'\0', "json", "", "as JSON"}},
      .run = doctor,
      .notes =
          "Takes and releases a lock of its own a few times. Exits 69 if there is a problem.\n"};
}

}  // namespace holdfast::cli
