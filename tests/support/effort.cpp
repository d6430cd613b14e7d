#include "support/effort.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace holdfast::test {

int times_from(const char* variable, int usual) {
  const char* const text = std::getenv(variable);
  return text != nullptr && std::atoi(text) > 0 ? std::atoi(text) : usual;
}

unsigned chosen_seed() {
  const int seed = times_from("HOLDFAST_SEED", static_cast<int>(::getpid()));
  std::cout << "HOLDFAST_SEED=" << seed << std::endl;  // at once: the test may crash
  return static_cast<unsigned>(seed);
}

}  // namespace holdfast::test
