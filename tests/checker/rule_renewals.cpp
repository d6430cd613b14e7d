// C9: one renewal per period (a third of the lease) and hold, and none for what nobody holds.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "checker/rules.hpp"

namespace holdfast::check {
namespace {

// What a client sent for one store grant: the request for it, a renewal or a release.
struct Sending {
  // client, lock, owner, grant fence
  std::tuple<std::uint32_t, std::string_view, std::uint64_t, std::uint64_t> hold;
  Time sent;
  const Acquire* grant = nullptr;
  const Renewal* renewal = nullptr;
  bool release = false;
};

std::vector<Sending> sendings_of(const History& history) {
  std::vector<Sending> all;
  for (const Acquire& a : history.acquires) {
    if (a.outcome == Outcome::granted && a.sent != kNever)
      all.push_back(
          {.hold = {a.client, a.name, a.owner, a.grant_fence}, .sent = a.sent, .grant = &a});
  }
  for (const Renewal& r : history.renewals)
    all.push_back(
        {.hold = {r.client, r.name, r.owner, r.grant_fence}, .sent = r.sent, .renewal = &r});
  for (const ReleaseSent& r : history.releases)
    all.push_back(
        {.hold = {r.client, r.name, r.owner, r.grant_fence}, .sent = r.sent, .release = true});
  std::stable_sort(all.begin(), all.end(), [](const Sending& a, const Sending& b) {
    return std::tie(a.hold, a.sent, a.release) < std::tie(b.hold, b.sent, b.release);
  });
  return all;
}

// Walks through the sendings for one grant in their order.
class Rhythm {
 public:
  Rhythm(const Terms& terms, Findings& found) : terms_(terms), found_(found) {}

  void step(const Sending& sending) {
    if (sending.grant) granted(*sending.grant);
    if (sending.renewal) renewal(*sending.renewal);
    if (sending.release) released_ = std::min(released_, sending.sent);
  }

 private:
  void renewal(const Renewal& r) {
    if (r.sent > later(released_, terms_.jitter))
      violated(r, " follows the release sent at ", released_);
    if (r.sent > later(gone_, terms_.jitter))
      violated(r, " follows the answer that it is gone, at ", gone_);
    if (!r.confirming) {
      found_.examined(Rule::renewals);
      if (last_success_ != kNever && !retry_ && r.sent - last_success_ < shortest_wait(r.lease_ns))
        violated(r, " comes less than a period after the success sent at ", last_success_);
    }
    retry_ = r.outcome == Renewed::no_answer;
    if (r.outcome == Renewed::renewed) succeeded(r.sent, r.lease_ns);
    if (r.outcome == Renewed::gone) gone_ = std::min(gone_, r.answered);
  }

  // What was gone before was an offer under the same fence.
  void granted(const Acquire& acquire) {
    gone_ = kNever;
    succeeded(acquire.sent, acquire.lease_ns);
  }

  void succeeded(Time sent, std::int64_t lease) {
    last_success_ = sent;
    lease_ = lease;
  }

  // The shorter of the leases before and after rules: the last renewal before max_hold asks only
  // for what is left, and a hand-off may change to a longer lease.
  Time shortest_wait(std::int64_t next_lease) const {
    constexpr std::int64_t kMillion = 1'000'000;
    const Time period = (lease_ == 0 ? next_lease : std::min(lease_, next_lease)) / 3;
    const Time drift =
        period / kMillion * terms_.drift_ppm + period % kMillion * terms_.drift_ppm / kMillion;
    return period - drift - terms_.jitter;
  }

  void violated(const Renewal& r, const char* how, Time time) {
    found_.violated(Rule::renewals, r.client, 0, "client ", r.client, " claim ", r.owner, " lock ",
                    encode_name(r.name), " fence ", r.grant_fence, ": the renewal sent at ",
                    At{r.sent}, how, At{time});
  }

  const Terms& terms_;
  Findings& found_;
  Time last_success_ = kNever;
  std::int64_t lease_ = 0;  // of the last success; 0 if not known
  bool retry_ = false;      // the renewal before had no answer
  Time released_ = kNever, gone_ = kNever;
};

}  // namespace

void check_renewals(const History& history, Findings& found) {
  const auto all = sendings_of(history);
  for (auto it = all.begin(); it != all.end();) {
    Rhythm rhythm(history.terms, found);
    for (const auto& hold = it->hold; it != all.end() && it->hold == hold; ++it) rhythm.step(*it);
  }
}

}  // namespace holdfast::check
