#include "conformance/rule.hpp"
#include "support/answer.hpp"
#include "support/soon.hpp"

namespace holdfast::conformance {

using namespace store;
using test::Answer;

HOLDFAST_RULE(AClosedStoreAnswersThatNothingWasDone) {
  test::OpenedClient opened = on.fixture().open_client();
  Claimant& alice = on.claimant();
  opened.store->close();
  Answer<GrantReply> answer;
  opened.store->try_grant(alice.request(), answer.call());
  const auto* none = answer.get<NoAnswer>();
  ASSERT_NE(none, nullptr) << show(answer.reply());
  EXPECT_FALSE(none->executed);
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(AClientThatGoesWithoutReleasingIsOutlivedByItsLeaseOnly) {
  Claimant& alice = on.claimant();
  {
    test::OpenedClient opened = on.fixture().open_client();
    GrantRequest request = alice.request();
    request.owner.client = opened.id;
    Answer<GrantReply> answer;
    opened.store->try_grant(request, answer.call());
    ASSERT_NE(answer.get<Granted>(), nullptr) << show(answer.reply());
    opened.store->close();
  }
  on.let_lapse(on.lease());
  EXPECT_TRUE(on.is_free());
}

HOLDFAST_RULE(ADeadServerIsNoAnswerAndNotARefusal) {
  Claimant& alice = on.claimant();
  HOLDFAST_FAULT(kill());
  const GrantReply reply = alice.ask();
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(reply)) << show(reply);
}

HOLDFAST_RULE(AfterARestartTheClientsGoOn_F009) {
  Claimant& alice = on.claimant();
  HOLDFAST_FAULT(kill());
  HOLDFAST_FAULT(restart(false));
  EXPECT_TRUE(test::eventually([&] { return std::holds_alternative<Granted>(alice.ask()); }));
}

HOLDFAST_RULE(AStoreThatKeepsItsDataKeepsTheHoldOverARestart) {
  Claimant& alice = on.claimant();
  const Granted granted = alice.granted();
  HOLDFAST_FAULT(kill());
  HOLDFAST_FAULT(restart(false));
  EXPECT_TRUE(test::eventually([&] { return alice.renews(granted.fence); }));
  on.claimant().refused();
}

HOLDFAST_RULE(AQuestionToAPausedServerIsAnsweredByItsDeadlineOrLater_F065) {
  Claimant& alice = on.claimant();
  HOLDFAST_FAULT(pause());
  Answer<GrantReply> answer;
  alice.link().try_grant(alice.request(), answer.call());
  HOLDFAST_FAULT(resume());
  const GrantReply& reply = answer.reply();
  EXPECT_TRUE(std::holds_alternative<Granted>(reply) || std::holds_alternative<NoAnswer>(reply))
      << show(reply);
  alice.granted();
}

}  // namespace holdfast::conformance
