#include "cli/run/lookout.hpp"

#include "cli/boot_now.hpp"
#include "cli/lock_names.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

Lookout::Lookout(const Client& client, std::string name)
    : client_(client), pattern_(pattern_of(name)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Lookout::~Lookout() {
  thread_.request_stop();
  thread_.join();
}

void Lookout::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    auto found = client_.inspect(pattern_);
    std::unique_lock lock(mutex_);
    if (found) {
      look_ = Look{.lock = {}, .at = boot_now()};
      if (!found->empty()) look_->lock = std::move(found->front());
      wake_.set();
    }
    pause_.wait_for(lock, stop, 1s, [] { return false; });
  }
}

std::optional<Lookout::Look> Lookout::take() {
  wake_.clear();
  const std::lock_guard lock(mutex_);
  return std::exchange(look_, std::nullopt);
}

}  // namespace holdfast::cli
