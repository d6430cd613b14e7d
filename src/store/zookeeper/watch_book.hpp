#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/zookeeper/answers.hpp"
#include "store/zookeeper/messages.hpp"
#include "store/zookeeper/tree.hpp"

namespace holdfast::store::zookeeper {

// Which watches stand, so that they can be set again over the next connection.
//
// Threads      One at a time.
class WatchBook {
 public:
  // The answer to a question that was to leave a watch.
  void asked(const Request&, Code);
  // True: somebody wants to know.
  bool fired(const Firing&);
  void left(const std::string& path) { watched_.erase(path); }
  // What was watched, and is not any more.
  std::vector<std::string> take();

  // The frames that set all of them again.
  std::string again(std::int64_t last_zxid) const;

 private:
  std::map<std::string, Watched> watched_;
};

}  // namespace holdfast::store::zookeeper
