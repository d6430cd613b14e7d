#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "holdfast/result.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/store/random.hpp"
#include "holdfast/store/store.hpp"
#include "holdfast/store/url.hpp"

namespace holdfast::store {

// What a store is given to live on. All of it outlives the store.
struct Surroundings {
  const Clock& clock;
  Loop& loop;
  Random& random;
  ClientId client;
};

// How connect() makes a store from a URL. Each store folder defines one, `k_<folder>_factory`; the
// build collects them.
struct StoreFactory {
  std::span<const std::string_view> schemes;
  Result<std::unique_ptr<Store>> (*open)(const Url&, const Surroundings&);
};

}  // namespace holdfast::store
