#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "holdfast/store/cells.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/question.hpp"
#include "store/redis/subscriber.hpp"

namespace holdfast::store::redis {

// The cells of a Redis server: one hash each, whose changes are told on a channel.
//
// Threads      From any thread; heard() on the loop.
class RedisCells final : public Cells {
 public:
  struct Parts {
    Connection& connection;
    const Settings& settings;
    std::shared_ptr<Subscriber> subscriber;
  };
  explicit RedisCells(Parts parts) : parts_(std::move(parts)) {}

  void read(const CellKey&, Call<CellReply>) override;
  void write(const CellWrite&, Call<CellReply>) override;
  void add(const CellAdd&, Call<CellReply>) override;
  WatchPtr watch(const CellKey&, CellChangedFn) override;

  // Something was said on a channel, or may have been: false if it is none of a cell's.
  bool heard(const std::string& channel);

 private:
  class Subscription;
  using Function = std::shared_ptr<const CellChangedFn>;
  using Id = std::pair<std::string, std::uint64_t>;  // the channel, and a number of its own
  struct State {
    // Held while something is wanted of the subscriber, which calls back without its own.
    std::mutex mutex;
    std::map<Id, Function> functions;
    std::uint64_t last = 0;
  };

  const Parts parts_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace holdfast::store::redis
