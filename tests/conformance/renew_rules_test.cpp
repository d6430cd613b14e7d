#include "conformance/rule.hpp"
#include "support/answer.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;
using test::Link;

namespace {

bool is_gone(const RenewalReply& reply) { return std::holds_alternative<Gone>(reply); }

std::vector<RenewalReply> renew_all(Claimant& through, const std::vector<Renewal>& batch) {
  Answer<RenewReply> answer;
  through.link().renew(batch, answer.call());
  const auto* each = answer.get<std::vector<RenewalReply>>();
  if (each == nullptr) ADD_FAILURE() << "a batch of renewals got no answer";
  return each == nullptr ? std::vector<RenewalReply>{} : *each;
}

}  // namespace

HOLDFAST_RULE(ARenewalRestartsTheLease) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  for (int i = 0; i < 4; ++i) {
    on.let_pass(on.lease() / 3);
    EXPECT_TRUE(alice.renews(granted.fence));
  }
  on.let_nearly_lapse(on.lease());
  on.claimant().refused();
  on.let_lapse(on.pace().slack + Duration(1));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ARenewalMayAskForAnotherLease) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  const RenewalReply reply = alice.renew(granted.fence, on.lease() / 3);
  ASSERT_TRUE(std::holds_alternative<Renewed>(reply)) << show(reply);
  EXPECT_GT(std::get<Renewed>(reply).lease, Duration::zero());
  on.let_lapse(on.lease() / 3);
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ARenewalNeverRecreatesWhatWasReleased) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  EXPECT_TRUE(alice.releases(granted.fence));
  EXPECT_TRUE(is_gone(alice.renew(granted.fence)));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ARenewalNeverRecreatesWhatHasLapsed_F006) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  on.let_lapse(on.lease());
  EXPECT_TRUE(is_gone(alice.renew(granted.fence)));
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(RefusesRenewalAfterAnotherGrant) {
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted old = alice.granted();
  on.let_lapse(on.lease());
  const Granted current = bob.granted();
  EXPECT_TRUE(is_gone(alice.renew(old.fence)));
  on.let_lapse(on.lease());
  EXPECT_FALSE(bob.renews(current.fence)) << "the stale renewal kept the new hold alive";
}

HOLDFAST_RULE(ARenewalComparesTheFence) {
  Claimant& alice = on.claimant();
  const Granted old = alice.granted();
  on.let_lapse(on.lease());
  const Granted current = alice.granted();
  on.let_pass(on.lease() / 2);
  EXPECT_TRUE(is_gone(alice.renew(old.fence)));
  EXPECT_TRUE(is_gone(alice.renew(current.fence + 1))) << "a spare is no fence to renew with";
  on.let_lapse(on.lease() / 2);
  EXPECT_TRUE(on.is_free()) << "a renewal with another fence kept the hold alive";
}

HOLDFAST_RULE(ARenewalComparesTheOwner) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  on.let_pass(on.lease() / 2);
  EXPECT_TRUE(is_gone(on.claimant().renew(granted.fence)));
  EXPECT_TRUE(is_gone(on.claimant_beside(alice).renew(granted.fence)));
  on.let_lapse(on.lease() / 2);
  EXPECT_TRUE(on.is_free()) << "a stranger's renewal kept the hold alive";
}

HOLDFAST_RULE(ABatchIsAnsweredOneByOneAndInOrder) {
  Claimant& one = on.claimant("one");
  Claimant& two = on.claimant_beside(one);
  const Granted held = one.granted();
  two.refused();
  const auto replies = renew_all(
      one, {one.renewal(held.fence), two.renewal(held.fence), one.renewal(held.fence + 7)});
  ASSERT_EQ(replies.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Renewed>(replies[0])) << show(replies[0]);
  EXPECT_TRUE(is_gone(replies[1])) << show(replies[1]);
  EXPECT_TRUE(is_gone(replies[2])) << show(replies[2]);
}

HOLDFAST_RULE(EachRenewalOfABatchHasItsOwnLease) {
  Claimant& brief = on.claimant("brief");
  Claimant& steady = on.claimant("steady");
  const Granted a = brief.granted();
  const Granted b = steady.granted();
  EXPECT_TRUE(brief.renews(a.fence, on.lease() / 3));
  EXPECT_TRUE(steady.renews(b.fence, on.lease()));
  on.let_lapse(on.lease() / 3);
  EXPECT_TRUE(on.is_free("brief"));
  EXPECT_FALSE(on.is_free("steady"));
}

HOLDFAST_RULE(AFullBatchIsRenewedAtOnce_F042) {
  Claimant& first = on.claimant("lock 0");
  std::vector<Renewal> batch;
  for (std::size_t i = 0; i < Store::kMaxBatch; ++i) {
    GrantRequest request = first.request();
    request.name = lock_name("lock " + std::to_string(i));
    Answer<GrantReply> answer;
    first.link().try_grant(request, answer.call());
    ASSERT_NE(answer.get<Granted>(), nullptr) << show(answer.reply());
    Renewal renewal = first.renewal(answer.get<Granted>()->fence);
    renewal.name = request.name;
    batch.push_back(renewal);
  }
  on.let_pass(on.lease() / 2);
  const auto replies = renew_all(first, batch);
  ASSERT_EQ(replies.size(), Store::kMaxBatch);
  for (const RenewalReply& reply : replies) {
    EXPECT_TRUE(std::holds_alternative<Renewed>(reply)) << show(reply);
  }
  on.let_pass(on.lease() / 2 + on.pace().slack);
  EXPECT_FALSE(on.is_free("lock 99"));
}

HOLDFAST_RULE(AnEmptyBatchIsAnswered) { EXPECT_TRUE(renew_all(on.claimant(), {}).empty()); }

HOLDFAST_RULE(ARenewalWhoseReplyWasLostCountsForTheStore_F005) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  on.let_pass(on.lease() / 2);
  alice.link().set(Link::deaf);
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(alice.renew(granted.fence)));
  alice.link().set(Link::up);
  on.let_pass(on.lease() / 2 + on.pace().slack);
  EXPECT_FALSE(on.is_free());
  EXPECT_TRUE(alice.renews(granted.fence));
}

HOLDFAST_RULE(ARenewalExecutedLateRevivesNothing_F006) {
  Claimant& alice = on.claimant();
  Claimant& bob = on.claimant();
  const Granted old = alice.granted();
  const Renewal renewal = alice.renewal(old.fence);
  Answer<RenewReply> late;
  alice.link().set(Link::paused);
  alice.link().renew({&renewal, 1}, late.call());
  on.let_lapse(on.lease());
  const Granted current = bob.granted();
  alice.link().let_go();
  ASSERT_NE(late.get<std::vector<RenewalReply>>(), nullptr);
  EXPECT_TRUE(is_gone(late.get<std::vector<RenewalReply>>()->at(0)));
  EXPECT_TRUE(bob.renews(current.fence));
}

}  // namespace holdfast::conformance
