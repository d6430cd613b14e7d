#pragma once

#include "holdfast/store/factory.hpp"
#include "store/zookeeper/fences.hpp"
#include "store/zookeeper/layout.hpp"
#include "store/zookeeper/places.hpp"
#include "store/zookeeper/quiet_lines.hpp"
#include "store/zookeeper/tree.hpp"
#include "store/zookeeper/wanted_watches.hpp"

namespace holdfast::store::zookeeper {

// What all verbs stand on.
struct Ground {
  struct Settings {
    Layout layout;
    Fences fences{};
  };
  Ground(Tree&, const Surroundings&, Settings);

  Tree& tree;
  const Clock& clock;
  const Layout layout;
  const Fences fences;
  WantedWatches watches;
  QuietLines quiet;
  Places places;

  // For as long as this, counted from then, nobody else can have what our nodes of that session stand for.
  // None at all if the session is another one by now.
  Duration lease_from(TimePoint asked_at, Duration asked, std::int64_t session) const;
};

}  // namespace holdfast::store::zookeeper
