#include "conformance/claimant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "conformance/show.hpp"
#include "support/answer.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;

Claimant::Claimant(test::SwitchableStore& link, ClaimKey key, const test::Pace& pace)
    : link_(link), key_(std::move(key)), pace_(pace) {}

Claimant::~Claimant() = default;

Claimant& Claimant::as(Kind kind, const Shape& shape) {
  key_.kind = kind;
  key_.shape = shape;
  return *this;
}

HolderRecord Claimant::record(const std::string& reason) const {
  HolderRecord record;
  record.owner = to_string(key_.owner);
  record.host = "web" + std::to_string(key_.owner.client.low);
  record.pid = 8123;
  record.program = "billing";
  record.since = WallTime(std::chrono::seconds(1'700'000'000));
  record.reason = reason;
  return record;
}

GrantRequest Claimant::request(const How& how) const {
  GrantRequest request;
  static_cast<ClaimKey&>(request) = key_;
  request.order = how.order;
  request.lease = how.lease.value_or(pace_.lease);
  request.spare = how.spare;
  request.record = record(how.reason);
  request.instead_of = how.instead_of;
  request.line_up = how.line_up;
  request.confirm_within =
      how.confirm_within.value_or(std::min<Duration>(std::chrono::seconds(1), request.lease / 3));
  request.line_for = how.line_for.value_or(request.lease - request.confirm_within);
  return request;
}

HoldKey Claimant::hold(std::uint64_t fence) const {
  HoldKey key;
  static_cast<ClaimKey&>(key) = key_;
  key.fence = fence;
  return key;
}

Renewal Claimant::renewal(std::uint64_t fence, std::optional<Duration> lease) const {
  Renewal renewal;
  static_cast<HoldKey&>(renewal) = hold(fence);
  renewal.lease = lease.value_or(pace_.lease);
  return renewal;
}

GrantReply Claimant::ask(const How& how) {
  Answer<GrantReply> answer;
  link_.try_grant(request(how), answer.call());
  return answer.reply();
}

Granted Claimant::granted(const How& how) {
  const GrantReply reply = ask(how);
  if (const auto* granted = std::get_if<Granted>(&reply)) return *granted;
  ADD_FAILURE() << show(key_) << " should have been granted, but was answered " << show(reply);
  return {};
}

Refused Claimant::refused(const How& how) {
  const GrantReply reply = ask(how);
  if (const auto* refused = std::get_if<Refused>(&reply)) return *refused;
  ADD_FAILURE() << show(key_) << " should have been refused, but was answered " << show(reply);
  return {};
}

RenewalReply Claimant::renew(std::uint64_t fence, std::optional<Duration> lease) {
  Answer<RenewReply> answer;
  const Renewal one = renewal(fence, lease);
  link_.renew({&one, 1}, answer.call());
  if (const auto* each = answer.get<std::vector<RenewalReply>>()) {
    if (each->size() == 1) return each->front();
    ADD_FAILURE() << "one renewal got " << each->size() << " answers";
    return NoAnswer{};
  }
  return *answer.get<NoAnswer>();
}

bool Claimant::renews(std::uint64_t fence, std::optional<Duration> lease) {
  return std::holds_alternative<Renewed>(renew(fence, lease));
}

ReleaseReply Claimant::release(std::uint64_t fence) {
  Answer<ReleaseReply> answer;
  link_.release(hold(fence), answer.call());
  return answer.reply();
}

bool Claimant::releases(std::uint64_t fence) {
  return std::holds_alternative<Released>(release(fence));
}

void Claimant::withdraw() {
  Answer<WithdrawReply> answer;
  link_.withdraw(key_, answer.call());
  if (answer.get<Withdrawn>() == nullptr) ADD_FAILURE() << show(key_) << " could not withdraw";
}

void Claimant::watch() { watch_ = link_.watch(key_, wakes_.fn()); }

Wake::Offer Claimant::offered() {
  if (const auto found = offer()) return *found;
  ADD_FAILURE() << show(key_) << " should have been offered the lock";
  return {};
}

}  // namespace holdfast::conformance
