#include "summary.hpp"

#include <cstdio>
#include <sstream>

namespace holdfast::sim {

namespace {

constexpr std::size_t kShownFailures = 10;

void add(check::Figures& to, const check::Figures& from) {
  to.grants += from.grants;
  to.hand_offs += from.hand_offs;
  to.renewals += from.renewals;
  to.refused_stale_writes += from.refused_stale_writes;
  to.unfenced_lost_updates += from.unfenced_lost_updates;
}

void add(std::array<check::Tally, check::kRules>& to,
         const std::array<check::Tally, check::kRules>& from) {
  for (std::size_t i = 0; i < check::kRules; ++i) {
    to[i].examined += from[i].examined;
    to[i].violated += from[i].violated;
    to[i].excused += from[i].excused;
  }
}

void add(Share& to, const Share& from) {
  to.schedules += from.schedules;
  to.calm += from.calm;
  to.any += from.any;
  to.fifo += from.fifo;
  to.hand_off += from.hand_off;
  add(to.figures, from.figures);
}

Share share_of(const Verdict& verdict) {
  const Plan& plan = verdict.plan;
  Share share;
  share.schedules = 1;
  share.calm = plan.calm() ? 1 : 0;
  share.any = plan.fifo_percent == 0 ? 1 : 0;
  share.fifo = plan.fifo_percent == 100 ? 1 : 0;
  share.hand_off = plan.hand_off() ? 1 : 0;
  share.figures = verdict.report.figures;
  return share;
}

constexpr const char* kFamilyNames[] = {"lease", "session"};
constexpr const char* kLockNames[] = {"mutex", "shared mutex", "semaphore"};
constexpr std::size_t kSorts = std::size(kFamilyNames) * std::size(kLockNames);

void print_shares(std::ostream& out,
                  const std::map<std::pair<Plan::Family, Plan::Locks>, Share>& shares) {
  char line[200];
  out << "family   kind          schedules   calm    any   fifo   both  hand-off     grants  "
         "hand-offs\n";
  const auto count = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  for (const auto& [sort, share] : shares) {
    std::snprintf(line, sizeof line,
                  "%-8s %-12s %10llu %6llu %6llu %6llu %6llu %9llu %10llu %10llu\n",
                  kFamilyNames[static_cast<std::size_t>(sort.first)],
                  kLockNames[static_cast<std::size_t>(sort.second)], count(share.schedules),
                  count(share.calm), count(share.any), count(share.fifo),
                  count(share.schedules - share.any - share.fifo), count(share.hand_off),
                  count(share.figures.grants), count(share.figures.hand_offs));
    out << line;
  }
  out << "\n";
}

}  // namespace

void Summary::add(std::uint64_t seed, const Verdict& verdict) {
  ++schedules;
  events += verdict.events;
  sim::add(shares[{verdict.plan.family, verdict.plan.locks}], share_of(verdict));
  faults.add(verdict.faults);
  sim::add(figures, verdict.report.figures);
  sim::add(tallies, verdict.report.tallies);
  if (const auto* violation = first_violation(verdict.report)) {
    failures.emplace(seed, std::string(check::name_of(violation->rule)) + ": " + violation->text);
  }
}

void Summary::add(const Summary& other) {
  schedules += other.schedules;
  events += other.events;
  for (const auto& [sort, share] : other.shares) sim::add(shares[sort], share);
  faults.add(other.faults);
  sim::add(figures, other.figures);
  sim::add(tallies, other.tallies);
  failures.insert(other.failures.begin(), other.failures.end());
}

bool Summary::thorough() const {
  if (shares.size() < kSorts) return false;
  for (const auto& [sort, share] : shares) {
    const bool both = sort.second != Plan::Locks::mutexes ||
                      (share.hand_off > 0 && share.hand_off < share.schedules);
    if (share.calm == 0 || share.any == 0 || share.fifo == 0 || !both) return false;
  }
  for (const FaultCounts::Count& count : faults.of) {
    if (count.schedules * 100 < schedules || count.inside < 100) return false;
  }
  return true;
}

std::string Summary::text() const {
  std::ostringstream out;
  char line[200];
  print_shares(out, shares);
  out << "fault          schedules      %       hits  inside an open operation\n";
  for (std::size_t i = 0; i < kFaults; ++i) {
    const FaultCounts::Count& count = faults.of[i];
    const double share = schedules == 0 ? 0
                                        : 100.0 * static_cast<double>(count.schedules) /
                                              static_cast<double>(schedules);
    std::snprintf(line, sizeof line, "%-13s %10llu %6.1f %10llu %10llu\n",
                  std::string(kFaultNames[i]).c_str(),
                  static_cast<unsigned long long>(count.schedules), share,
                  static_cast<unsigned long long>(count.hits),
                  static_cast<unsigned long long>(count.inside));
    out << line;
  }
  out << "\nrule                  examined   violated    excused\n";
  for (std::size_t i = 0; i < check::kRules; ++i) {
    std::snprintf(line, sizeof line, "%-20s %9llu %10llu %10llu\n",
                  std::string(check::name_of(static_cast<check::Rule>(i))).c_str(),
                  static_cast<unsigned long long>(tallies[i].examined),
                  static_cast<unsigned long long>(tallies[i].violated),
                  static_cast<unsigned long long>(tallies[i].excused));
    out << line;
  }
  out << "\ngrants " << figures.grants << ", hand-offs " << figures.hand_offs << ", renewals "
      << figures.renewals << ", stale writes refused by their fence "
      << figures.refused_stale_writes << ", updates lost without fences "
      << figures.unfenced_lost_updates << "\n";
  std::size_t shown = 0;
  for (const auto& [seed, text] : failures) {
    if (++shown > kShownFailures) break;
    out << "seed " << seed << ": " << text << "\n";
  }
  return out.str();
}

}  // namespace holdfast::sim
