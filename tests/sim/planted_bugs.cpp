#include <chrono>
#include <cstdio>
#include <string>

#include "core/planted.hpp"
#include "many_seeds.hpp"
#include "model_bugs.hpp"
#include "planted_bugs.hpp"

namespace holdfast::sim {

#ifdef HOLDFAST_PLANTED_BUGS

namespace {

struct Named {
  core::Bug bug;
  ModelBug model_bug;
  std::string_view name;
  std::string_view text;
};

constexpr Named kBugs[] = {
#define X(name, text) {core::Bug::name, ModelBug::none, #name, text},
    HOLDFAST_BUGS(X)
#undef X
#define X(name, text) {core::Bug::none, ModelBug::name, #name, text},
        HOLDFAST_MODEL_BUGS(X)
#undef X
};

void plant(const Named& chosen) {
  core::planted_bug = chosen.bug;
  planted_model_bug = chosen.model_bug;
}

}  // namespace

bool plant(std::string_view name) {
  for (const Named& each : kBugs) {
    if (each.name == name) {
      plant(each);
      return true;
    }
  }
  return false;
}

int catch_all(std::uint64_t first_seed, std::uint64_t at_most) {
  int caught = 0;
  for (const Named& each : kBugs) {
    plant(each);
    const auto start = std::chrono::steady_clock::now();
    const auto failure = first_failure(first_seed, at_most);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (failure) {
      ++caught;
      std::printf("caught  %-26s seed %-6llu %-22s %5.1fs  %s\n", std::string(each.name).c_str(),
                  static_cast<unsigned long long>(failure->first),
                  std::string(check::name_of(failure->second.rule)).c_str(), seconds,
                  std::string(each.text).c_str());
    } else {
      std::printf("MISSED  %-26s in %llu schedules, %.1fs  %s\n", std::string(each.name).c_str(),
                  static_cast<unsigned long long>(at_most), seconds,
                  std::string(each.text).c_str());
    }
    std::fflush(stdout);
  }
  const int all = static_cast<int>(std::size(kBugs));
  std::printf("planted bugs: %d of %d caught\n", caught, all);
  return caught == all ? 0 : 1;
}

#else

bool plant(std::string_view) { return false; }

int catch_all(std::uint64_t, std::uint64_t) {
  std::fprintf(stderr, "this engine has no planted bugs; use holdfast-sim-planted\n");
  return 2;
}

#endif

}  // namespace holdfast::sim
