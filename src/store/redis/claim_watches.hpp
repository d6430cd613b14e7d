#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "holdfast/store/keys.hpp"
#include "holdfast/store/watch.hpp"
#include "store/redis/subscriber.hpp"

namespace holdfast::store::redis {

// Which claims of this client wait, and where they are told of their turns: on the client's own channel,
// and on Redisson's where a Java holder is in the way.
//
// On error     watch() and wait_for_another() throw std::bad_alloc if they have done nothing.
// Lifetime     A watch may outlive this object and the subscriber's connection.
// Threads      From any thread; heard() and stands() on the loop.
class ClaimWatches {
 public:
  ClaimWatches(std::shared_ptr<Subscriber>, const ClientId&);

  WatchPtr watch(const ClaimKey&, WakeFn);
  // Whether what is told to this client is heard.
  bool listening() const { return subscriber_->stands(own_channel_); }
  // Nobody of ours will tell this claim: listen where the other one's release will be told.
  void wait_for_another(const ClaimKey&);
  // One of ours has it, and will: whoever else listens there is Redisson's.
  void wait_for_ours(const ClaimKey&);

  void heard(const std::string& channel, const std::string& message);
  // What was told before was not heard: everybody concerned looks again.
  void stands(const std::string& channel);

 private:
  using Function = std::shared_ptr<const WakeFn>;
  struct Entry {
    Function wake;
    std::vector<std::string> redisson{};  // the channels, if they are listened to
    bool listens_to(const std::string& channel) const {
      return std::find(redisson.begin(), redisson.end(), channel) != redisson.end();
    }
  };
  struct State {
    // Held while something is wanted of the subscriber, which calls back without its own.
    std::mutex mutex;
    std::map<OwnerId, Entry> entries;
  };
  class Subscription;
  Function listeners_wake(const std::string& channel);
  static void leave(Subscriber&, const std::vector<std::string>& channels);

  const std::shared_ptr<Subscriber> subscriber_;
  const ClientId client_;
  const std::string own_channel_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace holdfast::store::redis
