#include "core/agenda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::core {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr TimePoint kNow{1000s};

std::vector<std::string> due(Agenda<std::string>& agenda, TimePoint now) {
  std::vector<std::string> all;
  while (const auto key = agenda.take_due(now, kNever)) {
    all.push_back(*key);
    agenda.remove(*key);
  }
  return all;
}

TEST(Agenda, IsNeverDueWhenEmpty) {
  Agenda<std::string> agenda;
  EXPECT_EQ(agenda.next(), kNever);
  EXPECT_EQ(agenda.take_due(kNow, kNever), std::nullopt);
  EXPECT_EQ(agenda.take_due(kNever, kNever), std::nullopt);
}

TEST(Agenda, GivesWhatIsDueInOrderOfTimeThenKey) {
  Agenda<std::string> agenda;
  agenda.set("late", kNow + 1ns);
  agenda.set("b", kNow);
  agenda.set("c", kNow - 1s);
  agenda.set("a", kNow);
  EXPECT_EQ(agenda.next(), kNow - 1s);
  EXPECT_THAT(due(agenda, kNow), ElementsAre("c", "a", "b"));
  EXPECT_EQ(agenda.next(), kNow + 1ns);
}

TEST(Agenda, AnItemHasOneTime) {
  Agenda<std::string> agenda;
  agenda.set("a", kNow);
  agenda.set("a", kNow + 5s);
  EXPECT_EQ(agenda.next(), kNow + 5s);
  agenda.set("a", kNow + 5s);
  agenda.set("a", kNow + 1s);
  EXPECT_THAT(due(agenda, kNow + 9s), ElementsAre("a"));
  EXPECT_EQ(agenda.next(), kNever);
}

TEST(Agenda, NeverMeansNotAtAll) {
  Agenda<std::string> agenda;
  agenda.set("a", kNever);
  EXPECT_EQ(agenda.take_due(kNever, kNever), std::nullopt);
  agenda.set("a", kNow);
  agenda.set("a", kNever);
  EXPECT_EQ(agenda.next(), kNever);
  agenda.set("b", kNow);
  agenda.remove("b");
  agenda.remove("b");
  EXPECT_EQ(agenda.next(), kNever);
}

TEST(Agenda, AnItemThatWasTakenCanBeSetAgain) {
  Agenda<std::string> agenda;
  agenda.set("a", kNow);
  EXPECT_THAT(due(agenda, kNow), ElementsAre("a"));
  agenda.set("a", kNow);
  EXPECT_THAT(due(agenda, kNow), ElementsAre("a"));
}

TEST(Agenda, AnItemThatIsNotSetAgainComesBackByItself_F044) {
  Agenda<std::string> agenda;
  agenda.set("a", kNow);
  agenda.set("b", kNow);
  EXPECT_EQ(agenda.take_due(kNow, kNow + 10ms), "a");
  EXPECT_EQ(agenda.take_due(kNow, kNow + 10ms), "b");
  EXPECT_EQ(agenda.take_due(kNow, kNow + 10ms), std::nullopt);
  agenda.remove("b");
  EXPECT_EQ(agenda.next(), kNow + 10ms);
  EXPECT_THAT(due(agenda, kNow + 10ms), ElementsAre("a"));
}

}  // namespace
}  // namespace holdfast::core
