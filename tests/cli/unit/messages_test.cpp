#include "cli/guard/messages.hpp"

#include <optional>

#include <sys/socket.h>

#include "gtest/gtest.h"

namespace holdfast::cli {
namespace {

class Messages : public testing::Test {
 protected:
  Messages() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    run_.emplace(Descriptor(ends[0]));
    guard_.emplace(Descriptor(ends[1]));
  }

  std::optional<RunLink> run_;
  std::optional<GuardLink> guard_;
};

TEST_F(Messages, ArriveInOrder) {
  EXPECT_FALSE(run_->receive());
  EXPECT_FALSE(run_->broken());
  guard_->send({News::What::started, 17});
  guard_->send({News::What::gone, 0});
  EXPECT_EQ(run_->receive()->value, 17);
  EXPECT_EQ(run_->receive()->what, News::What::gone);
}

TEST_F(Messages, TheLastWordsOfAGuardianThatDidNotListenAreHeard) {
  run_->send({Instruction::What::until, 1});
  guard_->send({News::What::ended, 5});
  guard_->send({News::What::gone, 0});
  guard_.reset();
  const auto ended = run_->receive();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->value, 5);
  EXPECT_EQ(run_->receive()->what, News::What::gone);
  EXPECT_FALSE(run_->broken());
  EXPECT_FALSE(run_->receive());
  EXPECT_TRUE(run_->broken());
}

// A stopped process does not read. The other one has a lease to look after.
TEST_F(Messages, NobodyWaitsForOneWhoDoesNotRead) {
  int sent = 0;
  while (sent < 100'000 && run_->send({Instruction::What::signal, 1})) ++sent;
  EXPECT_GT(sent, 50);
  EXPECT_LT(sent, 100'000) << "it must have been full";
}

TEST_F(Messages, NewsOfNoWeightLeaveRoomForTheRest) {
  int sent = 0;
  while (sent < 100'000 && guard_->send_if_heard({News::What::stopped, 1})) ++sent;
  EXPECT_LT(sent, 100'000);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(guard_->send({News::What::ended, i}));
}

TEST_F(Messages, SendingToTheDeadIsNoSignal_F027) {
  guard_.reset();
  EXPECT_FALSE(run_->send({Instruction::What::lost, 0}));
}

}  // namespace
}  // namespace holdfast::cli
