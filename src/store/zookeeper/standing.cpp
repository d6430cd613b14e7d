#include "store/zookeeper/standing.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

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

void Standing::begins(TimePoint sent, Duration timeout) {
  end();
  timeout_ = timeout;
  heard_ = agreed_ = sent;
}

// Needs no memory, which a new Standing would.
void Standing::end() {
  broke();
  timeout_ = {};
  heard_.reset();
  agreed_.reset();
}

// Servers may differ in what they grant. A timeout that is smaller may be what the leader has heard; one that is greater
// is forgotten by the next leader, which counts the one that the session began with.
void Standing::goes_on(TimePoint sent, Duration timeout) {
  broke();
  timeout_ = std::min(timeout_, timeout);
  hello_ = sent;
}

void Standing::broke() {
  hello_.reset();
  contacts_.clear();
}

void Standing::answered(TimePoint sent, TimePoint now) { note({sent, now}); }

void Standing::agreed(TimePoint sent, TimePoint now) {
  if (!heard_ || !agreed_) return;
  agreed_ = std::max(*agreed_, sent);
  if (const auto hello = std::exchange(hello_, std::nullopt)) {
    heard_ = std::max(*heard_, *hello);
  }
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
  if (!heard_ || !agreed_) return TimePoint::min();
  return std::min(later(*heard_, timeout_), later(*agreed_, timeout_ / 2)) - allowance(timeout_);
}

}  // namespace holdfast::store::zookeeper
