#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace holdfast::transport {

// Does what somebody would wait for in vain: without memory for it again and again, until there is some. What has
// thrown std::bad_alloc must be fit to be done once more. Under no lock.
template <class F>
auto insist(F f) {
  for (;;) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace holdfast::transport
