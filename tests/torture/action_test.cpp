#include "torture/action.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace holdfast::torture {
namespace {

using namespace std::chrono_literals;

constexpr store::Capabilities kAll{.mutex_any = true,
                                   .mutex_fifo = true,
                                   .shared = true,
                                   .downgrade = true,
                                   .upgradeable = true,
                                   .permits = true};

auto as_tuple(const Action& a) {
  return std::tuple(a.lock, a.shape, a.options.wait, a.options.renew, a.options.max_hold,
                    a.options.order, a.blocking, a.rest, a.work, a.careful, a.exchange,
                    a.confirmed);
}

std::vector<Action> some(std::uint64_t stream, const store::Capabilities& can) {
  test::SeededRandom random(stream);
  const auto locks = lock_list(can, 600ms);
  std::vector<Action> actions;
  for (int i = 0; i < 2'000; ++i) actions.push_back(draw(random, locks, can));
  return actions;
}

TEST(TortureAction, OfOneStreamIsTheSameEachTime) {
  const auto first = some(7, kAll), again = some(7, kAll);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(as_tuple(first[i]), as_tuple(again[i]));
}

TEST(TortureAction, StreamsDifferByWorkerGenerationAndCaller) {
  std::set<std::uint64_t> streams;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (std::uint32_t worker = 0; worker < 5; ++worker) {
      for (std::uint32_t generation = 0; generation < 5; ++generation) {
        for (std::uint32_t caller = 0; caller < 5; ++caller) {
          streams.insert(stream_of(seed, worker, generation, caller));
        }
      }
    }
  }
  EXPECT_EQ(streams.size(), 625U);
}

TEST(TortureAction, WantsEverythingThatTheStoreCan) {
  std::set<store::Shape::Form> forms;
  std::set<Action::Exchange> exchanges;
  std::set<Order> orders;
  bool single = false, limited = false, unlimited = false, lasts = false, careless = false;
  for (const Action& each : some(7, kAll)) {
    forms.insert(each.shape.form);
    exchanges.insert(each.exchange);
    orders.insert(each.options.order);
    single |= each.options.wait == Duration::zero();
    unlimited |= each.options.wait == kForever;
    limited |= each.options.wait > Duration::zero() && each.options.wait < kForever;
    lasts |= each.work > each.options.lease;
    careless |= !each.careful;
  }
  EXPECT_EQ(forms.size(), 4U);
  EXPECT_EQ(exchanges.size(), 3U);
  EXPECT_EQ(orders.size(), 2U);
  EXPECT_TRUE(single && limited && unlimited && lasts && careless);
}

TEST(TortureAction, WantsNothingThatTheStoreCannot) {
  for (const Action& each : some(7, {.mutex_any = true})) {
    EXPECT_EQ(each.shape, store::Shape::exclusive());
    EXPECT_EQ(each.options.order, Order::any);
    EXPECT_EQ(each.exchange, Action::Exchange::none);
  }
}

}  // namespace
}  // namespace holdfast::torture
