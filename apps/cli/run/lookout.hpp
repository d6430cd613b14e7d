#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/run/wake.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {

// Looks at one lock about once a second, on a thread of its own: a store that does not answer must
// neither delay the acquire nor a ^C.
class Lookout {
 public:
  Lookout(const Client&, std::string name);
  ~Lookout();
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;

  struct Look {
    std::optional<LockInfo> lock;  // nothing: nobody holds it or waits for it
    TimePoint at{};
  };

  int descriptor() const { return wake_.descriptor(); }
  std::optional<Look> take();  // the latest, once

 private:
  void run(const std::stop_token&);

  Client client_;
  std::string pattern_;
  Wake wake_;
  std::mutex mutex_;  // guards what is below
  std::condition_variable_any pause_;
  std::optional<Look> look_;
  std::jthread thread_;  // last: it uses all the others
};

}  // namespace holdfast::cli
