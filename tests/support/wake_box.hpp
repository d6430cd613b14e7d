#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "holdfast/store/watch.hpp"

namespace holdfast::test {

// Collects the wakes of one watch.
//
// Threads      From any thread.
class WakeBox {
 public:
  store::WakeFn fn() const {
    return [box = box_](const store::Wake& wake) {
      const std::lock_guard lock(box->mutex);
      box->wakes.push_back(wake);
      box->arrived.notify_all();
    };
  }

  // The oldest wake that was not taken yet; none if no such wake comes within `patience`.
  std::optional<store::Wake> take(std::chrono::milliseconds patience = {}) {
    return take_if(patience, [](const store::Wake&) { return true; });
  }
  std::optional<store::Wake::Offer> take_offer(std::chrono::milliseconds patience = {}) {
    const auto wake = take_if(patience, [](const store::Wake& w) { return w.offer.has_value(); });
    return wake ? wake->offer : std::nullopt;
  }

 private:
  struct Box {
    std::mutex mutex;
    std::condition_variable arrived;
    std::deque<store::Wake> wakes;
  };

  // Drops the wakes before the one that is wanted.
  template <class Wanted>
  std::optional<store::Wake> take_if(std::chrono::milliseconds patience, Wanted wanted) {
    std::unique_lock lock(box_->mutex);
    std::optional<store::Wake> found;
    box_->arrived.wait_for(lock, patience, [&] {
      while (!found && !box_->wakes.empty()) {
        if (wanted(box_->wakes.front())) found = box_->wakes.front();
        box_->wakes.pop_front();
      }
      return found.has_value();
    });
    return found;
  }

  std::shared_ptr<Box> box_ = std::make_shared<Box>();
};

}  // namespace holdfast::test
