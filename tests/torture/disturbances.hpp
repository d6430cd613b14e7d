// Faults that only one kind of store knows: a server that is restarted, a proxy that cuts the line, a clock
// that is set. A store adds its own in disturbances.cpp; the plan draws from them, the conductor begins and
// ends them, and the report shows them by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checker/history.hpp"

namespace holdfast::torture {

class Disturbance {
 public:
  virtual ~Disturbance() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view text() const = 0;  // as in "the database is locked by another process"

  // Called in turns, by one thread. end() undoes what begin() did, as far as that can be.
  virtual void begin() = 0;
  virtual void end() = 0;

  // Which premises of the promises it leaves standing.
  virtual check::Assumptions leaves() const { return {}; }
};

using Disturbances = std::vector<std::unique_ptr<Disturbance>>;

// Those of the store that the URL names; none for a store that knows no others than the usual ones.
Disturbances disturbances_of(const std::string& url);

// A store that lives inside one process: all workers are clients of that one, and it is not killed.
bool lives_in_one_process(const std::string& url);

}  // namespace holdfast::torture
