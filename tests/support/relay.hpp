#pragma once

#include <utility>

#include "holdfast/store/call.hpp"

namespace holdfast::test {

// A Call whose answer goes through `take(reply)`: for stores that stand in front of another one.
// `take` runs exactly once, since a Call that is dropped answers by itself.
template <class Reply, class Take>
store::Call<Reply> relay(TimePoint deadline, Take take, bool may_block = false) {
  class Relay final : public store::Answers<Reply> {
   public:
    explicit Relay(Take f) : take_(std::move(f)) {}
    void answered(store::CallId, Reply reply) override {
      Take f = std::move(take_);
      delete this;
      f(std::move(reply));
    }

   private:
    Take take_;
  };
  return {*new Relay(std::move(take)), 0, deadline, may_block};
}

}  // namespace holdfast::test
