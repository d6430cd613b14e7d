#include "conformance/rule.hpp"
#include "holdfast/store/cells.hpp"
#include "support/answer.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;

namespace {

GrantReply ask_as(Claimant& who, Kind kind, Shape shape, bool in_place_of_own = false) {
  GrantRequest request = who.request();
  request.kind = kind;
  request.shape = shape;
  if (in_place_of_own) request.instead_of = who.hold(1);
  Answer<GrantReply> answer;
  who.link().try_grant(request, answer.call());
  return answer.reply();
}

void expect_unsupported(const GrantReply& reply, const char* what) {
  const auto* rejected = std::get_if<Rejected>(&reply);
  ASSERT_NE(rejected, nullptr) << what << " is not declared, yet answered " << show(reply);
  EXPECT_EQ(rejected->why, Errc::unsupported) << what;
}

}  // namespace

HOLDFAST_RULE(WhatIsNotDeclaredIsRejectedAsUnsupported) {
  const Capabilities& can = on.capabilities();
  Claimant& alice = on.claimant();
  if (!can.shared) {
    expect_unsupported(ask_as(alice, Kind::shared_mutex, Shape::exclusive()), "shared");
    expect_unsupported(ask_as(alice, Kind::shared_mutex, Shape::shared()), "shared");
  }
  if (!can.upgradeable) {
    expect_unsupported(ask_as(alice, Kind::shared_mutex, Shape::upgradeable()), "upgradeable");
  }
  if (!can.permits) {
    expect_unsupported(ask_as(alice, Kind::semaphore, Shape::permits(1, 2)), "permits");
  }
  if (!can.downgrade && !can.upgradeable) {
    expect_unsupported(ask_as(alice, Kind::mutex, Shape::exclusive(), true), "downgrade");
  }
  if (!can.cells) {
    EXPECT_EQ(alice.link().cells(), nullptr) << "cells are not declared";
  }
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AnotherKindOfThatNameIsRejectedOrAnotherLock) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  for (const auto& [kind, shape] : {std::pair(Kind::shared_mutex, Shape::shared()),
                                    std::pair(Kind::shared_mutex, Shape::exclusive()),
                                    std::pair(Kind::semaphore, Shape::permits(1, 2))}) {
    const GrantReply reply = ask_as(on.claimant(), kind, shape);
    if (const auto* rejected = std::get_if<Rejected>(&reply)) {
      EXPECT_TRUE(rejected->why == Errc::invalid_argument || rejected->why == Errc::unsupported);
    } else {
      EXPECT_TRUE(std::holds_alternative<Granted>(reply)) << show(reply);
    }
  }
  EXPECT_TRUE(alice.renews(granted.fence));
}

HOLDFAST_RULE(AMutexIsExclusiveOnly) {
  Claimant& alice = on.claimant();
  for (const Shape shape : {Shape::shared(), Shape::upgradeable(), Shape::permits(1, 2)}) {
    const GrantReply reply = ask_as(alice, Kind::mutex, shape);
    EXPECT_TRUE(std::holds_alternative<Rejected>(reply)) << show(reply);
  }
  EXPECT_TRUE(on.is_free());
}

}  // namespace holdfast::conformance
