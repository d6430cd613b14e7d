#include "torture/report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "checker/history_text.hpp"
#include "torture/session.hpp"

namespace holdfast::torture {
namespace {

using check::Acquire;
using check::kRules;
using check::Rule;
using Json = nlohmann::ordered_json;

// A URL may have a password in it.
std::string without_secrets(std::string url) {
  const auto begin = url.find("//");
  const auto end = url.rfind('@');
  if (begin != std::string::npos && end != std::string::npos && begin < end) {
    url.replace(begin + 2, end - begin - 2, "***");
  }
  return url;
}

// Whether acquires were under way at a time, in one process or in any.
class UnderWay {
 public:
  explicit UnderWay(const check::History& history) {
    for (const Acquire& each : history.acquires) {
      add(spans_[process_of(each.client)], each);
      add(spans_[0], each);
    }
    for (auto& [process, spans] : spans_) finish(spans);
  }

  bool at(std::uint32_t process, Time time) const {
    const auto found = spans_.find(process);
    if (found == spans_.end()) return false;
    const auto& spans = found->second;
    auto after = std::upper_bound(spans.begin(), spans.end(), time,
                                  [](Time t, const Span& span) { return t < span.from; });
    return after != spans.begin() && std::prev(after)->to > time;
  }

 private:
  struct Span {
    Time from, to;
  };
  using Spans = std::vector<Span>;

  static void add(Spans& spans, const Acquire& each) {
    spans.push_back({each.invoked, each.returned});
  }
  // Ends become the latest so far, so that the last span before a time decides.
  static void finish(Spans& spans) {
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.from < b.from; });
    for (std::size_t i = 1; i < spans.size(); ++i) {
      spans[i].to = std::max(spans[i].to, spans[i - 1].to);
    }
  }

  std::map<std::uint32_t, Spans> spans_;
};

std::vector<FaultLine> faults_in(const Gathered& gathered) {
  std::vector<FaultLine> lines;
  for (std::size_t i = 0; i + 1 < kFaults; ++i) {
    lines.push_back({.name = std::string(kFaultNames[i]), .text = std::string(kFaultTexts[i])});
  }
  const std::size_t first_of_store = lines.size();
  for (const Named& each : gathered.disturbances)
    lines.push_back({.name = each.name, .text = each.text});
  const UnderWay under_way(gathered.history);
  for (const Struck& each : gathered.struck) {
    FaultLine& line = lines.at(each.fault == Fault::store ? first_of_store + each.which
                                                          : static_cast<std::size_t>(each.fault));
    ++line.struck;
    if (under_way.at(each.process, each.from)) ++line.inside;
  }
  return lines;
}

Time at_share(const std::vector<Time>& sorted, std::size_t percent) {
  return sorted.empty() ? 0 : sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
}

std::string millis_text(Time time) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f ms", static_cast<double>(time) / 1e6);
  return text;
}

constexpr std::array<check::Outcome, 8> kOutcomes{
    check::Outcome::granted,   check::Outcome::busy,    check::Outcome::timed_out,
    check::Outcome::cancelled, check::Outcome::unknown, check::Outcome::unavailable,
    check::Outcome::other,     check::Outcome::pending};

void put_faults(std::ostream& out, const std::vector<FaultLine>& faults) {
  char line[200];
  out << "fault             struck   inside an open acquire\n";
  for (const FaultLine& each : faults) {
    std::snprintf(line, sizeof line, "%-16s %7llu %8llu   %s\n", each.name.c_str(),
                  static_cast<unsigned long long>(each.struck),
                  static_cast<unsigned long long>(each.inside), each.text.c_str());
    out << line;
  }
}

void put_rules(std::ostream& out, const check::Report& judged) {
  char line[200];
  out << "\nrule                  examined   violated   excused\n";
  for (std::size_t i = 0; i < kRules; ++i) {
    const check::Tally& tally = judged.tallies[i];
    std::snprintf(line, sizeof line, "%-20s %9llu %10llu %9llu%s\n",
                  std::string(check::name_of(static_cast<Rule>(i))).c_str(),
                  static_cast<unsigned long long>(tally.examined),
                  static_cast<unsigned long long>(tally.violated),
                  static_cast<unsigned long long>(tally.excused),
                  tally.examined == 0 ? "   this run says nothing about it" : "");
    out << line;
  }
}

void put_violations(std::ostream& out, const RunReport& report) {
  constexpr std::size_t kShown = 10;
  std::map<Rule, std::size_t> shown;
  for (const check::Violation& each : report.judged.violations) {
    if (!each.counts || ++shown[each.rule] > kShown) continue;
    out << check::name_of(each.rule) << ": " << each.text << "\n";
  }
  for (const std::string& each : report.troubles) out << "trouble: " << each << "\n";
  if (report.too_tame()) {
    out << "the run was too tame: a rule had nothing to examine, or no update was lost without "
           "fences\n";
  }
}

}  // namespace

bool RunReport::too_tame() const {
  constexpr std::uint64_t kLong = 10'000;
  constexpr std::uint64_t kOnPurpose = 1;  // Caller::write_late()
  if (ops < kLong || options.faults == 0) return false;
  const auto first = judged.tallies.begin() + static_cast<std::ptrdiff_t>(Rule::exclusion);
  const auto last = judged.tallies.begin() + static_cast<std::ptrdiff_t>(Rule::no_ghosts);
  return judged.figures.unfenced_lost_updates <= kOnPurpose ||
         std::any_of(first, last + 1, [](const check::Tally& t) { return t.examined == 0; });
}

RunReport report_on(const Options& options, const std::string& url, const Gathered& gathered) {
  RunReport report;
  report.options = options;
  report.options.url = without_secrets(options.url);
  report.store = without_secrets(url);
  report.judged = check::check(gathered.history);
  report.faults = faults_in(gathered);
  report.troubles = gathered.troubles;
  report.ops = gathered.ops;
  report.took = gathered.took;
  std::vector<Time> waits;
  for (const Acquire& each : gathered.history.acquires) {
    ++report.outcomes.at(static_cast<std::size_t>(each.outcome));
    if (each.outcome == check::Outcome::granted) waits.push_back(each.returned - each.invoked);
  }
  std::sort(waits.begin(), waits.end());
  report.wait_p50 = at_share(waits, 50);
  report.wait_p99 = at_share(waits, 99);
  report.wait_max = at_share(waits, 100);
  return report;
}

std::string to_text(const RunReport& report) {
  std::ostringstream out;
  const Options& options = report.options;
  out << "store " << report.store << ", " << options.processes << " processes, seed "
      << options.seed << ", lease " << options.lease.count() << " ms\n"
      << report.ops << " acquires in " << static_cast<double>(report.took.count()) / 1000 << " s:";
  for (const check::Outcome each : kOutcomes) {
    const std::uint64_t count = report.outcomes.at(static_cast<std::size_t>(each));
    if (count != 0) out << " " << check::to_word(each) << " " << count;
  }
  out << "\nwaits until granted: half within " << millis_text(report.wait_p50) << ", 99 % within "
      << millis_text(report.wait_p99) << ", longest " << millis_text(report.wait_max) << "\n\n";
  put_faults(out, report.faults);
  put_rules(out, report.judged);
  const check::Figures& f = report.judged.figures;
  out << "\ngrants " << f.grants << ", hand-offs " << f.hand_offs << ", renewals " << f.renewals
      << "\nstale writes refused by their fence " << f.refused_stale_writes
      << ", updates lost without fences " << f.unfenced_lost_updates << "\n\n";
  put_violations(out, report);
  out << (report.ok() ? "no rule was broken\n"
                      : "NOT WELL. To run it again: " + command_line(options) + "\n");
  return out.str();
}

std::string to_json(const RunReport& report) {
  const Options& options = report.options;
  Json json{{"schema", 1},
            {"ok", report.ok()},
            {"store", report.store},
            {"seed", options.seed},
            {"processes", options.processes},
            {"lease_ms", options.lease.count()},
            {"took_ms", report.took.count()},
            {"again", command_line(options)},
            {"acquires", report.ops}};
  for (const check::Outcome each : kOutcomes) {
    json["outcomes"][std::string(check::to_word(each))] =
        report.outcomes.at(static_cast<std::size_t>(each));
  }
  json["wait_ns"] = {{"p50", report.wait_p50}, {"p99", report.wait_p99}, {"max", report.wait_max}};
  json["faults"] = Json::array();
  for (const FaultLine& each : report.faults) {
    json["faults"].push_back(
        {{"name", each.name}, {"struck", each.struck}, {"inside", each.inside}});
  }
  json["rules"] = Json::array();
  for (std::size_t i = 0; i < kRules; ++i) {
    const check::Tally& tally = report.judged.tallies[i];
    json["rules"].push_back({{"name", std::string(check::name_of(static_cast<Rule>(i)))},
                             {"examined", tally.examined},
                             {"violated", tally.violated},
                             {"excused", tally.excused}});
  }
  const check::Figures& f = report.judged.figures;
  json["grants"] = f.grants;
  json["hand_offs"] = f.hand_offs;
  json["renewals"] = f.renewals;
  json["stale_writes_refused"] = f.refused_stale_writes;
  json["updates_lost_without_fences"] = f.unfenced_lost_updates;
  json["violations"] = Json::array();
  for (const check::Violation& each : report.judged.violations) {
    if (each.counts) json["violations"].push_back(each.text);
  }
  json["troubles"] = report.troubles;
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace holdfast::torture
