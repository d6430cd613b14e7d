// Turns on a claim, and what happens in the middle of one.
#include "store/zookeeper/places.hpp"

#include <functional>
#include <utility>

#include "integration/zookeeper/lock_bench.hpp"
#include "store/zookeeper/grant.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {
namespace {

// One claim of one client, without the locks that would stand on it.
class ZookeeperPlaces : public LockBench {
 protected:
  ZookeeperPlaces() {
    claim_.name = lock_name("a");
    claim_.owner = {ClientId{1, 2}, 3};
  }

  // A turn in which the claim stands in the line and watches whoever is before it.
  void wait_in_line(const std::function<void()>& before_it_ends = {}) {
    places_.enter(claim_, [&](Places::Turn turn) {
      {
        const auto guard = places_.lock();
        turn.place()->stage = Stage::waiting;
        turn.place()->fired = false;
        places_.watch(turn.place(), {kBefore});
      }
      if (before_it_ends) before_it_ends();
      turn.leave();
    });
  }

  static constexpr auto kBefore = "/locks/a/before";

  MemoryTree tree_{all_, clock_, kTimeout};
  WantedWatches watches_{tree_};
  int looks_ = 0;
  Places places_{{.tree = tree_,
                  .watches = watches_,
                  .clock = clock_,
                  .loop = loop_,
                  .look =
                      [this](Places::Turn turn) {
                        ++looks_;
                        turn.place()->fired = false;
                        turn.leave();
                      },
                  .clear = [](Places::Turn) {}}};
  GrantRequest claim_;
  test::WakeBox wakes_;
};

TEST_F(ZookeeperPlaces, WhatFiresBetweenTurnsIsLookedAtAtOnce_F083) {
  const WatchPtr watch = places_.await(claim_, wakes_.fn());
  wait_in_line();
  EXPECT_EQ(looks_, 0);
  places_.fired(kBefore, Event::deleted);
  EXPECT_EQ(looks_, 1);
}

// The turn may have read already that nothing has fired, and be on its way to say "refused".
TEST_F(ZookeeperPlaces, WhatFiresAtTheVeryEndOfATurnIsLookedAtBehindIt_F083) {
  const WatchPtr watch = places_.await(claim_, wakes_.fn());
  wait_in_line([&] {
    places_.fired(kBefore, Event::deleted);
    EXPECT_EQ(looks_, 0) << "it is another's turn";
  });
  EXPECT_EQ(looks_, 1);
}

TEST_F(ZookeeperPlaces, WhatFiresWhileNobodyListensIsSeenByTheNextQuestion_F083) {
  wait_in_line([&] { places_.fired(kBefore, Event::deleted); });
  EXPECT_EQ(looks_, 0);
}

// It was due when the timer found it, and somebody else had its turn before.
TEST_F(ZookeeperPlaces, WhatWasRenewedMeanwhileIsNotCleared) {
  MemoryTree tree(all_, clock_, kTimeout);
  Ground ground(tree, {clock_, loop_, random_, claim_.owner.client},
                {.layout = Layout("/locks"), .fences = Fences()});
  const auto clear_what_ends = [&](TimePoint until) {
    Stage stage{};
    ground.places.enter(claim_, [&](Places::Turn turn) {
      const Places::Ptr place = turn.place();
      {
        const auto guard = ground.places.lock();
        place->stage = Stage::held;
        place->session = tree.session();
        place->nodes = {"/locks/a/mine"};
        ground.places.set_until(*place, until);
      }
      clear(ground, std::move(turn));
      const auto guard = ground.places.lock();
      stage = place->stage;
    });
    return stage;
  };
  EXPECT_EQ(clear_what_ends(clock_.now() + 1s), Stage::held);
  EXPECT_EQ(clear_what_ends(clock_.now()), Stage::none);
}

}  // namespace
}  // namespace holdfast::store::zookeeper
