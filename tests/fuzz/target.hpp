// Code that reads bytes of somebody else's, made to read any bytes. One target per file in targets/:
//
//   const Target kUrl("url", [](std::string_view bytes) {
//     const auto url = Url::parse(bytes);
//     require(…, "what is printed reads back as the same");
//   });
//
// holdfast-fuzz runs one of them under libFuzzer (make fuzz). fuzz_replay, a test, runs them all over
// the inputs in corpus/<target>/ and random changes of these.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::fuzz {

class Target {
 public:
  using Run = void (*)(std::string_view bytes);
  Target(std::string name, Run run);

  static const std::map<std::string, Run>& all();  // by name
};

// A property does not hold. Nothing catches it but the one who runs a target.
class Broken : public std::logic_error {
  using std::logic_error::logic_error;
};

// Throws Broken unless it holds.
void require(bool holds, const char* what);

}  // namespace holdfast::fuzz
