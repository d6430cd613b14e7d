#include "integration/redis/java_thread.hpp"

#include <algorithm>

#include "support/soon.hpp"

namespace holdfast::test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

steady_clock::time_point JavaThread::lock(JavaLock sort, const std::string& name) {
  if (calls_.lock(sort, name, number_)) wait(sort, name);
  return steady_clock::now();
}

void JavaThread::wait(JavaLock sort, const std::string& name) {
  RedisConnection ear(socket_path_);  // its end is the end of the subscription
  ear.ask({"SUBSCRIBE", RedissonLike::channel(sort, name, number_)});
  while (const auto left = calls_.lock(sort, name, number_)) {
    waits_ = true;
    ear.hear(std::clamp(milliseconds(*left), milliseconds(1), milliseconds(kSoon)));
  }
  waits_ = false;
}

}  // namespace holdfast::test
