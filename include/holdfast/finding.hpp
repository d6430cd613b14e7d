#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

// Something an operator should know about a store.
struct Finding {
  enum class Level : std::uint8_t {
    fact,     // as it should be
    warning,  // works, but a promise is weaker than it could be
    problem,  // does not work
  };

  Level level = Level::fact;
  std::string subject;  // two or three words: "journal mode"
  std::string text;     // what was found and, unless it is a fact, what to do; no secrets
};

}  // namespace holdfast
