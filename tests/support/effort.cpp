#include "support/effort.hpp"

#include <unistd.h>

#include <cstdlib>

namespace holdfast::test {

int times_from(const char* variable, int usual) {
  const char* const text = std::getenv(variable);
  return text != nullptr && std::atoi(text) > 0 ? std::atoi(text) : usual;
}

unsigned chosen_seed() {
  return static_cast<unsigned>(times_from("HOLDFAST_SEED", static_cast<int>(::getpid())));
}

}  // namespace holdfast::test
