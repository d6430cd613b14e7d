#pragma once

#include <memory>
#include <string>
#include <utility>

#include "store/redis/subscriber.hpp"

namespace holdfast::store::redis {

// Listens to a channel as long as it lives.
//
// On error     Making one throws std::bad_alloc, and then nobody listens for it.
class WantedChannel {
 public:
  WantedChannel(std::shared_ptr<Subscriber> subscriber, std::string channel)
      : subscriber_(std::move(subscriber)), name_(std::move(channel)) {
    subscriber_->want(name_);
  }
  WantedChannel(const WantedChannel&) = delete;
  WantedChannel& operator=(const WantedChannel&) = delete;
  ~WantedChannel() { subscriber_->give_up(name_); }

  const std::string& name() const { return name_; }
  Subscriber& subscriber() const { return *subscriber_; }

 private:
  const std::shared_ptr<Subscriber> subscriber_;
  const std::string name_;
};

}  // namespace holdfast::store::redis
