#include "checker/timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "checker/history_text.hpp"

namespace holdfast::check {
namespace {

using Call = std::pair<std::uint32_t, std::uint64_t>;

State state_of(Incident what) {
  switch (what) {
    case Incident::stopped:
      return State::stopped;
    case Incident::dead:
      return State::dead;
    case Incident::cut_off:
      return State::cut_off;
    case Incident::other:
      break;
  }
  return State::other;
}

End end_of(const Acquire& it) {
  if (it.crashed) return End::crashed;
  if (it.valid_end == kNever) return End::none;
  return it.released != kNever && it.released <= it.valid_end ? End::released : End::lost;
}

const char* words_of(End end) {
  switch (end) {
    case End::released:
      return ", released";
    case End::lost:
      return ", lost";
    case End::crashed:
      return ", crashed";
    default:
      return "";
  }
}

// Whatever an event says about when it happened.
template <class Visit>
void for_each_time(const Timeline& timeline, Visit&& visit) {
  for (const Acquire& it : timeline.history.acquires) {
    for (const Time at : {it.invoked, it.returned, it.valid_end}) visit(at);
  }
  for (const Befell& it : timeline.befell) {
    visit(it.from);
    visit(it.to);
  }
}

void limits(const Timeline& timeline, Lanes& lanes) {
  Time first = kNever;
  Time last = 0;
  for_each_time(timeline, [&](Time at) {
    if (at == kNever) return;
    first = std::min(first, at);
    last = std::max(last, at);
  });
  if (first == kNever) first = last;
  lanes.from = std::max(first, timeline.from);
  lanes.to = std::max(lanes.from, timeline.to == kNever ? last : timeline.to);
}

// The segments of one call stay together in a row.
using Segments = std::vector<Segment>;

Segments segments_of(const Acquire& it, bool violates, Time last) {
  const bool granted = it.outcome == Outcome::granted;
  const std::string op = "#" + std::to_string(it.op);
  const std::string name = encode_name(it.name);
  Segments segments;
  segments.push_back(
      {.state = State::waiting,
       .from = it.invoked,
       .to = std::min(it.returned, last),
       .end = granted || it.outcome == Outcome::pending ? End::none : End::refused,
       .violates = violates && !granted,
       .label = name,
       .details = op + " waits for " + name + ": " + std::string(to_word(it.outcome))});
  if (granted) {
    segments.push_back({.state = State::holding,
                        .from = it.returned,
                        .to = std::min(it.valid_end, last),
                        .end = end_of(it),
                        .violates = violates,
                        .label = name + " " + std::to_string(it.fence),
                        .details = op + " holds " + name + " with fence " +
                                   std::to_string(it.fence) + words_of(end_of(it))});
  }
  return segments;
}

void place(Lane& lane, Segments segments) {
  const auto free = std::find_if(lane.rows.begin(), lane.rows.end(), [&](const auto& row) {
    return row.back().to <= segments.front().from;
  });
  if (free == lane.rows.end()) {
    lane.rows.push_back(std::move(segments));
  } else {
    std::move(segments.begin(), segments.end(), std::back_inserter(*free));
  }
}

bool shown(const Lanes& lanes, Time from, Time to) { return from <= lanes.to && to >= lanes.from; }

}  // namespace

Lanes lanes_of(const Timeline& timeline) {
  Lanes lanes;
  limits(timeline, lanes);
  std::set<Call> violating;
  for (const Violation& it : timeline.violations) violating.emplace(it.client, it.op);

  std::map<std::uint32_t, Lane> by_client;
  const auto lane_of = [&](std::uint32_t client) -> Lane& {
    Lane& lane = by_client[client];
    lane.client = client;
    return lane;
  };
  std::vector<const Acquire*> in_order;
  for (const Acquire& it : timeline.history.acquires) in_order.push_back(&it);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Acquire* a, const Acquire* b) { return a->invoked < b->invoked; });
  for (const Acquire* it : in_order) {
    Lane& lane = lane_of(it->client);
    Segments segments = segments_of(*it, violating.contains({it->client, it->op}), lanes.to);
    if (shown(lanes, it->invoked, segments.back().to)) place(lane, std::move(segments));
  }
  for (const Befell& it : timeline.befell) {
    Lane& lane = lane_of(it.client);
    const Time to = std::min(it.to, lanes.to);
    if (!shown(lanes, it.from, to)) continue;
    lane.background.push_back({.state = state_of(it.what),
                               .from = it.from,
                               .to = to,
                               .label = it.text,
                               .details = it.text});
  }
  for (auto& [client, lane] : by_client) {
    if (lane.rows.empty() && lane.background.empty()) continue;
    auto at = client == kStoreLane ? lanes.lanes.begin() : lanes.lanes.end();
    lanes.lanes.insert(at, std::move(lane));
  }
  return lanes;
}

Time axis_step(Time length, int marks) {
  Time step = 1;
  for (int i = 0; length / step > marks; ++i) {
    step = i % 3 == 1 ? step / 2 * 5 : step * 2;  // 1, 2, 5, 10
  }
  return step;
}

std::string axis_text(Time length) {
  struct Unit {
    double ns;
    const char* name;
  };
  for (const Unit unit : {Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}, Unit{1, "ns"}}) {
    if (static_cast<double>(length) < unit.ns) continue;
    char text[40];
    std::snprintf(text, sizeof text, "%.6g%s", static_cast<double>(length) / unit.ns, unit.name);
    return text;
  }
  return "0";
}

}  // namespace holdfast::check
