#include "store/zookeeper/standing.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::store::zookeeper {
namespace {

using namespace std::chrono_literals;

// After this a follower has reported: a quarter, and a little for a leader whose timer is late.
Duration report_time(Duration timeout) { return timeout / 4 + timeout / 50; }

Duration allowance(Duration timeout) { return timeout / 100 + 2ms; }

// Answers come by the thousand, reports do not: one contact in so much of the time is enough, and older than
// the timeout is of no use.
Duration grain(Duration timeout) { return timeout / 50; }
constexpr std::size_t kMostContacts = 60;

}  // namespace

void Standing::opened(TimePoint sent, Duration timeout) {
  timeout_ = timeout;
  contacts_.clear();
  heard_ = std::max(heard_.value_or(sent), sent);
  answer_ = std::max(answer_.value_or(sent), sent);
}

void Standing::answered(TimePoint sent, TimePoint now) { note({sent, now}); }

void Standing::leader_answered(TimePoint sent, TimePoint now) {
  if (!heard_) return;
  answer_ = std::max(answer_.value_or(sent), sent);
  while (!contacts_.empty() && later(contacts_.front().answered, report_time(timeout_)) <= sent) {
    heard_ = std::max(*heard_, contacts_.front().sent);
    contacts_.pop_front();
  }
  note({sent, now});
}

// To leave out a contact is safe.
void Standing::note(Contact contact) {
  if (!contacts_.empty() && contact.sent < later(contacts_.back().sent, grain(timeout_))) return;
  contacts_.push_back(contact);
  if (contacts_.size() > kMostContacts) contacts_.pop_front();
}

TimePoint Standing::valid_until() const {
  if (!heard_ || !answer_) return TimePoint::min();
  return std::min(later(*heard_, timeout_), later(*answer_, timeout_ / 2)) - allowance(timeout_);
}

}  // namespace holdfast::store::zookeeper
