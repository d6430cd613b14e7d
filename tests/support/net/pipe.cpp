#include "support/net/pipe.hpp"

#include <algorithm>

namespace holdfast::test {

void Pipe::take(std::string bytes, Time now) {
  traffic_.came += bytes.size();
  if (rules_.drop) return;
  if (rules_.rewrite) rules_.rewrite(bytes);
  if (bytes.empty()) return;
  kept_ += bytes.size();
  batches_.push_back({.bytes = std::move(bytes), .passed = 0, .due = later(now)});
}

void Pipe::end(Time now) {
  if (ended_) return;
  ended_ = true;
  closed_ = rules_.drop && batches_.empty();  // it vanishes
  later(now);
}

Pipe::Time Pipe::later(Time now) {
  auto delay = rules_.delay;
  if (rules_.jitter.count() > 0) {
    const auto bound = static_cast<std::uint64_t>(rules_.jitter.count()) + 1;
    delay += std::chrono::milliseconds(random_() % bound);
  }
  last_due_ = std::max(last_due_, now + delay);
  return last_due_;
}

std::string_view Pipe::ready(Time now) const {
  if (batches_.empty() || due() > now) return {};
  const Batch& first = batches_.front();
  std::string_view some = std::string_view(first.bytes).substr(first.passed);
  if (rules_.chunk > 0) some = some.substr(0, rules_.chunk);
  if (rules_.break_after) some = some.substr(0, *rules_.break_after - traffic_.passed);
  return some;
}

void Pipe::written(std::size_t count, Time now) {
  traffic_.passed += count;
  traffic_.writes += 1;
  kept_ -= count;
  next_write_ = now + rules_.pause;
  Batch& first = batches_.front();
  first.passed += count;
  if (first.passed == first.bytes.size()) batches_.pop_front();
}

bool Pipe::may_close(Time now) const { return batches_.empty() && due() <= now; }

Pipe::Time Pipe::due() const {
  if (rules_.hold || closed_ || broken()) return kNever;
  if (!batches_.empty()) return std::max(batches_.front().due, next_write_);
  return ended_ && !rules_.drop ? last_due_ : kNever;
}

bool Pipe::broken() const {
  return rules_.break_after && traffic_.came > 0 && traffic_.passed >= *rules_.break_after;
}

}  // namespace holdfast::test
