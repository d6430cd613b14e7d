#include "torture/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace holdfast::torture {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two acquires of one lock, in processes 1 and 2.
Gathered gathered() {
  Gathered all;
  const auto hold = [](std::uint32_t client, std::uint64_t fence, Time from) {
    return check::Acquire{.client = client,
                          .op = 1,
                          .name = "orders",
                          .invoked = from,
                          .returned = from + millis(2),
                          .outcome = check::Outcome::granted,
                          .fence = fence,
                          .grant_fence = fence,
                          .valid_end = from + millis(10),
                          .released = from + millis(10)};
  };
  all.history.acquires = {hold(1001, 1, millis(100)), hold(2001, 2, millis(200))};
  all.history.terms.ended = millis(1000);
  all.disturbances = {{"locked", "the database is locked"}};
  all.struck = {{.fault = Fault::kill, .process = 1, .from = millis(101)},
                {.fault = Fault::kill, .process = 2, .from = millis(101)},
                {.fault = Fault::store, .from = millis(201)}};
  all.ops = 2;
  return all;
}

RunReport report(const Gathered& all = gathered()) {
  Options options;
  options.url = "redis://user:secret@host/1";
  options.seed = 42;
  return report_on(options, options.url, all);
}

Gathered broken() {
  Gathered all = gathered();
  all.history.acquires[1].fence = all.history.acquires[1].grant_fence = 1;
  return all;
}

TEST(TortureReport, CountsFaultsAndThoseInsideAnOpenAcquire) {
  const RunReport made = report();
  const FaultLine& kill = made.faults.at(static_cast<std::size_t>(Fault::kill));
  EXPECT_EQ(kill.name, "kill");
  EXPECT_EQ(kill.struck, 2U);
  EXPECT_EQ(kill.inside, 1U) << "process 2 was doing nothing";
  EXPECT_EQ(made.faults.back().name, "locked");
  EXPECT_EQ(made.faults.back().inside, 1U) << "somebody was doing something";
}

TEST(TortureReport, ShowsRulesOfWhichNothingIsKnown) {
  const std::string text = to_text(report());
  EXPECT_THAT(text, HasSubstr("C8 fifo                      0          0         0   this run says "
                              "nothing about it"));
  EXPECT_THAT(text, HasSubstr("no rule was broken"));
}

TEST(TortureReport, OfAViolationSaysHowToRunItAgain) {
  const std::string text = to_text(report(broken()));
  EXPECT_FALSE(report(broken()).ok());
  EXPECT_THAT(text, HasSubstr("C3 fence once: client 2001"));
  EXPECT_THAT(text, HasSubstr("To run it again: holdfast-torture --store"));
  EXPECT_THAT(text, HasSubstr("--seed 42"));
}

TEST(TortureReport, AWorkerThatDiedByItselfIsNotWell) {
  Gathered all = gathered();
  all.troubles = {"process 3 died by itself"};
  EXPECT_FALSE(report(all).ok());
  EXPECT_THAT(to_text(report(all)), HasSubstr("process 3 died by itself"));
}

TEST(TortureReport, ALongRunThatMetNothingIsNotWell) {
  Gathered all = gathered();
  all.ops = 10'000;
  EXPECT_FALSE(report(all).ok());
  EXPECT_THAT(to_text(report(all)), HasSubstr("too tame"));
}

TEST(TortureReport, KeepsSecretsToItself) {
  for (const std::string& text : {to_text(report(broken())), to_json(report(broken()))}) {
    EXPECT_THAT(text, Not(HasSubstr("secret")));
    EXPECT_THAT(text, HasSubstr("host/1"));
  }
}

TEST(TortureReport, AsJsonHasTheSameFigures) {
  const auto json = nlohmann::json::parse(to_json(report()));
  EXPECT_TRUE(json.at("ok").get<bool>());
  EXPECT_EQ(json.at("seed"), 42);
  EXPECT_EQ(json.at("outcomes").at("granted"), 2);
  EXPECT_EQ(json.at("wait_ns").at("p50"), millis(2));
  EXPECT_EQ(json.at("rules").at(1).at("examined"), 2);
  EXPECT_EQ(json.at("faults").at(2).at("struck"), 2);
}

TEST(TortureReport, IsDrawn) {
  EXPECT_THAT(timeline_of(report(), gathered()), HasSubstr("<svg"));
  EXPECT_THAT(timeline_of(report(broken()), broken()), HasSubstr("<svg"));
}

}  // namespace
}  // namespace holdfast::torture
