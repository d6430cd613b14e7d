#include <algorithm>
#include <map>
#include <set>

#include "checker/timeline.hpp"
#include "torture/report.hpp"
#include "torture/session.hpp"

namespace holdfast::torture {
namespace {

using check::Befell;
using check::Incident;

// More than this is not looked at by anybody.
constexpr Time kAround = millis(1500);
constexpr Time kBeginning = millis(5000);

std::vector<Befell> befell_in(const Gathered& gathered) {
  std::map<std::uint32_t, std::set<std::uint32_t>> clients;  // of each process
  for (const check::Acquire& each : gathered.history.acquires) {
    clients[process_of(each.client)].insert(each.client);
  }
  std::vector<Befell> all;
  for (const Struck& each : gathered.struck) {
    const std::string name(each.fault == Fault::store
                               ? gathered.disturbances.at(each.which).name
                               : std::string(kFaultNames[static_cast<std::size_t>(each.fault)]));
    const bool stopped = each.fault == Fault::pause_short || each.fault == Fault::pause_long;
    if (each.fault == Fault::store || each.fault == Fault::hog) {
      all.push_back({check::kStoreLane, Incident::other, each.from, each.to, name});
    } else if (stopped || each.fault == Fault::kill) {
      for (const std::uint32_t client : clients[each.process]) {
        all.push_back({client, stopped ? Incident::stopped : Incident::dead, each.from,
                       stopped ? each.to : kNever, name});
      }
    }
  }
  return all;
}

Time first_event(const check::History& history) {
  Time first = kNever;
  for (const check::Acquire& each : history.acquires) first = std::min(first, each.invoked);
  return first;
}

const check::Acquire* culprit(const RunReport& report, const Gathered& gathered) {
  for (const check::Violation& violation : report.judged.violations) {
    for (const check::Acquire& each : gathered.history.acquires) {
      const bool same = each.client == violation.client && each.op == violation.op;
      if (violation.counts && violation.op != 0 && same) return &each;
    }
  }
  return nullptr;
}

}  // namespace

std::string timeline_of(const RunReport& report, const Gathered& gathered) {
  check::Timeline timeline{.history = gathered.history,
                           .befell = befell_in(gathered),
                           .violations = report.judged.violations};
  if (const check::Acquire* const acquire = culprit(report, gathered)) {
    const Time at = acquire->returned == kNever ? acquire->invoked : acquire->returned;
    timeline.from = at - kAround;
    timeline.to = at + kAround;
  } else if (const Time first = first_event(gathered.history); first != kNever) {
    timeline.from = first;
    timeline.to = first + kBeginning;
  }
  return check::timeline_svg(timeline);
}

}  // namespace holdfast::torture
