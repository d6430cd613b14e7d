#include "cli/run/run_holds.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::cli {
namespace {

template <class Members, class Part>
std::string joined(const Members& members, Part part) {
  std::string text;
  for (const auto& member : members) {
    if (&member != &members.front()) text += ',';
    text += part(member->hold);
  }
  return text;
}

std::string slots_of(const Hold& hold) {
  std::string text;
  for (const std::uint32_t slot : hold.slots()) {
    text += (text.empty() ? "" : " ") + std::to_string(slot);
  }
  return text;
}

bool is_loss(const Error& error) { return error == Errc::lost || error == Errc::forced; }

}  // namespace

void RunHolds::add(Hold hold) {
  members_.push_back(std::make_unique<Member>(std::move(hold), lost_));
}

TimePoint RunHolds::valid_until() const {
  TimePoint earliest = kNever;
  for (const auto& member : members_) earliest = std::min(earliest, member->hold.valid_until());
  return std::max(earliest, TimePoint());  // others calculate with it
}

Result<void> RunHolds::verify() const {
  for (const auto& member : members_) {
    if (auto verified = member->hold.verify(); !verified) return verified;
  }
  return {};
}

std::string RunHolds::lost_name() const {
  for (const auto& member : members_) {
    if (member->hold.lost().stop_requested()) return std::string(member->hold.name());
  }
  return {};
}

std::vector<std::uint64_t> RunHolds::fences() const {
  std::vector<std::uint64_t> all;
  for (const auto& member : members_) all.push_back(member->hold.fence().value());
  return all;
}

std::string RunHolds::fences_text() const {
  return joined(members_, [](const Hold& hold) { return std::to_string(hold.fence().value()); });
}

std::string RunHolds::owners() const {
  return joined(members_, [](const Hold& hold) { return hold.owner(); });
}

std::string RunHolds::slots() const {
  const bool any = std::any_of(members_.begin(), members_.end(),
                               [](const auto& member) { return !member->hold.slots().empty(); });
  return any ? joined(members_, slots_of) : std::string();
}

Result<void> RunHolds::release() {
  Result<void> all;
  while (!members_.empty()) {
    const auto released = members_.back()->hold.release();
    if (!released && (all || is_loss(released.error()))) all = released;
    members_.pop_back();
  }
  return all;
}

}  // namespace holdfast::cli
