// holdfast-fuzz: libFuzzer's program around the target that the environment names.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.hpp"

namespace {

holdfast::fuzz::Target::Run chosen() {
  const char* const name = std::getenv("HOLDFAST_FUZZ");
  const auto& all = holdfast::fuzz::Target::all();
  const auto found = all.find(name != nullptr ? name : "");
  if (found != all.end()) return found->second;
  std::fputs("HOLDFAST_FUZZ names one of:", stderr);
  for (const auto& [each, run] : all) std::fprintf(stderr, " %s", each.c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kRun = chosen();
  kRun({reinterpret_cast<const char*>(data), size});
  return 0;
}
