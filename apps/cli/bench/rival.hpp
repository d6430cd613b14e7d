#pragma once

#include <string>
#include <vector>

#include "cli/demo/partner.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// Another process that now and then asks for the lock of a benchmark.
class Rival {
 public:
  Rival(const std::string& lock, const std::string& store_url);

  void begin();
  std::vector<Duration> end();  // how long each of its requests waited

 private:
  Partner process_;
};

}  // namespace holdfast::cli
