#include "checker/timeline.hpp"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace holdfast::check {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Acquire granted(std::uint32_t client, std::uint64_t op, Time invoked, Time returned,
                Time valid_end) {
  Acquire it;
  it.client = client;
  it.op = op;
  it.name = "a";
  it.invoked = invoked;
  it.returned = returned;
  it.outcome = Outcome::granted;
  it.fence = op;
  it.valid_end = valid_end;
  it.released = valid_end;
  return it;
}

TEST(Timeline, HasALaneForEachClientWithTheStoreAtTheTop) {
  History history;
  history.acquires = {granted(2, 1, 0, 10, 20), granted(1, 2, 0, 20, 30)};
  const Lanes lanes =
      lanes_of({.history = history, .befell = {{.client = kStoreLane, .from = 5, .to = 6}}});
  ASSERT_EQ(lanes.lanes.size(), 3u);
  EXPECT_EQ(lanes.lanes[0].client, kStoreLane);
  EXPECT_EQ(lanes.lanes[1].client, 1u);
  EXPECT_EQ(lanes.lanes[2].client, 2u);
  EXPECT_EQ(lanes.from, 0);
  EXPECT_EQ(lanes.to, 30);
}

TEST(Timeline, StacksCallsThatOverlapAndOnlyThose) {
  History history;
  history.acquires = {granted(1, 1, 0, 10, 20), granted(1, 2, 15, 25, 30),
                      granted(1, 3, 20, 25, 30)};
  const Lanes lanes = lanes_of({.history = history});
  ASSERT_EQ(lanes.lanes.size(), 1u);
  ASSERT_EQ(lanes.lanes[0].rows.size(), 2u);
  EXPECT_EQ(lanes.lanes[0].rows[0].size(), 4u);  // 1 and 3
  EXPECT_EQ(lanes.lanes[0].rows[1].size(), 2u);
}

TEST(Timeline, TellsHowAHoldEnded) {
  History history;
  history.acquires = {granted(1, 1, 0, 1, 2), granted(2, 2, 0, 1, 2), granted(3, 3, 0, 1, 2),
                      granted(4, 4, 0, 1, kNever)};
  history.acquires[1].released = kNever;
  history.acquires[2].crashed = true;
  const Lanes lanes = lanes_of({.history = history});
  const auto end = [&](std::size_t lane) { return lanes.lanes.at(lane).rows.at(0).at(1).end; };
  EXPECT_EQ(end(0), End::released);
  EXPECT_EQ(end(1), End::lost);
  EXPECT_EQ(end(2), End::crashed);
  EXPECT_EQ(end(3), End::none);
}

TEST(Timeline, ShowsNoMoreThanItWasAskedFor) {
  History history;
  history.acquires = {granted(1, 1, 0, 10, 20), granted(1, 2, 100, 110, 120),
                      granted(1, 3, 200, 210, 220), granted(2, 4, 0, 10, 20)};
  const Lanes lanes = lanes_of({.history = history, .from = 90, .to = 130});
  ASSERT_EQ(lanes.lanes.size(), 1u);
  ASSERT_EQ(lanes.lanes[0].rows.size(), 1u);
  EXPECT_EQ(lanes.lanes[0].rows[0][0].from, 100);
  EXPECT_EQ(lanes.lanes[0].rows[0].size(), 2u);
}

TEST(Timeline, IsReadableAsText) {
  History history;
  history.acquires = {granted(1, 1, 0, 20, 60), granted(2, 2, 10, 60, 99)};
  history.acquires[1].released = kNever;
  const std::string text =
      timeline_text({.history = history,
                     .befell = {{.client = 1, .what = Incident::dead, .from = 80, .to = 99},
                                {.client = 2, .what = Incident::stopped, .from = 70, .to = 80}}},
                    100);
  EXPECT_THAT(text,
              HasSubstr("1           ....................========================================="
                        "                   xxxxxxxxxxxxxxxxxxxx\n"));
  EXPECT_THAT(text,
              HasSubstr("2                     ................................................"
                        "..==========zzzzzzzzzzz==================!\n"));
}

TEST(Timeline, MarksWhatBreaksARule) {
  History history;
  history.acquires = {granted(1, 1, 0, 10, 50), granted(2, 2, 0, 40, 60)};
  const Timeline timeline{.history = history,
                          .violations = {{.rule = Rule::exclusion, .client = 2, .op = 2}}};
  EXPECT_THAT(timeline_text(timeline, 61), HasSubstr("2           .........................."
                                                     "..............*====================\n"));
  EXPECT_THAT(timeline_svg(timeline), HasSubstr("class=\"holding violates\""));
}

TEST(Timeline, HasNoMarkupFromNames) {
  History history;
  history.acquires = {granted(1, 1, 0, 10, 20)};
  history.acquires[0].name = "<script>&\n";
  const std::string svg = timeline_svg(
      {.history = history, .befell = {{.client = 1, .from = 1, .to = 2, .text = "<b>"}}});
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;"));
}

TEST(Timeline, OfNothingIsEmpty) {
  const History history;
  EXPECT_TRUE(lanes_of({.history = history}).lanes.empty());
  EXPECT_THAT(timeline_svg({.history = history}), HasSubstr("</svg>"));
}

TEST(Timeline, HasAnAxisOfRoundSteps) {
  EXPECT_EQ(axis_step(100, 10), 10);
  EXPECT_EQ(axis_step(101, 10), 10);
  EXPECT_EQ(axis_step(200, 10), 20);
  EXPECT_EQ(axis_step(450, 10), 50);
  EXPECT_EQ(axis_step(1'000'000'000, 10), 100'000'000);
  EXPECT_EQ(axis_text(0), "0");
  EXPECT_EQ(axis_text(1'250'000'000), "1.25s");
  EXPECT_EQ(axis_text(300'000'000), "300ms");
  EXPECT_EQ(axis_text(17'000), "17us");
}

}  // namespace
}  // namespace holdfast::check
