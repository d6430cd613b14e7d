// Where the rules put what they find, and the words they put it in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

#include "checker/checker.hpp"
#include "checker/history_text.hpp"

namespace holdfast::check {

// A time for a text: kNever reads "never".
struct At {
  Time time;
};
std::ostream& operator<<(std::ostream& out, At at);

// "client 3 op 17 lock orders fence 42"
std::ostream& operator<<(std::ostream& out, const Acquire& acquire);

class Findings {
 public:
  explicit Findings(const Assumptions& assumptions) : assumptions_(assumptions) {}

  void examined(Rule rule, std::uint64_t more = 1) { tally(rule).examined += more; }

  template <class... Parts>
  void violated(Rule rule, const Acquire& culprit, const Parts&... parts) {
    violated(rule, culprit.client, culprit.op, culprit, parts...);
  }
  template <class... Parts>
  void violated(Rule rule, std::uint32_t client, std::uint64_t op, const Parts&... parts) {
    const bool counts = counts_under(assumptions_, rule);
    Tally& sum = tally(rule);
    ++(counts ? sum.violated : sum.excused);
    if (sum.violated + sum.excused > kKept) return;
    std::ostringstream text;
    (text << ... << parts);
    report_.violations.push_back({rule, client, op, text.str(), counts});
  }

  Figures& figures() { return report_.figures; }
  bool any() const { return !report_.violations.empty(); }
  Report take() { return std::move(report_); }

 private:
  Tally& tally(Rule rule) { return report_.tallies.at(static_cast<std::size_t>(rule)); }

  Assumptions assumptions_;
  Report report_;
};

}  // namespace holdfast::check
