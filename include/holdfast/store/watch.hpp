#pragma once

#include <functional>
#include <memory>

#include "holdfast/store/requests.hpp"

namespace holdfast::store {

// Called with each wake, on any thread, holding no lock of the store's.
using WakeFn = std::function<void(const Wake&)>;

// A subscription: it lasts as long as the object that the store made for it.
//
// Guarantees   A wake already under way may still arrive after the destructor returned.
class Watch {
 public:
  virtual ~Watch() = default;
};

using WatchPtr = std::unique_ptr<Watch>;

}  // namespace holdfast::store
