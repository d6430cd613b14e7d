#pragma once

#include <memory>

#include "holdfast/store/call.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/keys.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/question.hpp"
#include "store/redis/subscriber.hpp"

namespace holdfast::store::redis {

struct Examined {
  const Address& address;
  const Settings& settings;
  const Clock& clock;
  Connection& connection;
  std::shared_ptr<Subscriber> subscriber;
  ClientId client;
};

// Asks the server about itself, one command after another, and answers with what an operator should know.
// What this user may not ask is said to be unknown, and is no failure.
void examine(const Examined&, Call<ExamineReply>);

}  // namespace holdfast::store::redis
