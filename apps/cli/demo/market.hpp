#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cli/demo/shop_plan.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// What happened when a shop was killed.
struct Killing {
  int shop = 0;
  std::uint64_t fence = 0;  // of the hold that died with it
  Duration at{};            // since the doors opened
  Duration take_over{};     // until somebody else had the lock
  int take_over_by = 0;
  Duration reopened_after{};  // until the shop was there again
  int buyers_left = 0;        // whom it had not served
};

// One day of two shops with one shelf, counted from the files that are left.
struct Day {
  Guarding guarding = Guarding::nothing;
  int articles = 1;
  std::int64_t sold = 0;    // units, by the ledger
  std::int64_t shelf = 0;   // units, by the shelf
  int served = 0;           // different buyers in the ledger
  int refused = 0;          // of them: those who were told "sold out"
  int twice = 0;            // entries of buyers who had one already
  bool fences_grow = true;  // from each visit of a shelf to the next
  Duration took{};
  Duration wait_p50{};
  Duration wait_p99{};
  std::optional<Killing> killing{};

  bool exact() const;
};

struct DayPlan {
  std::filesystem::path folder{};  // exists, and is empty
  std::string store_url{};
  Guarding guarding = Guarding::nothing;
  std::uint64_t seed = 0;
  int articles = 1;
  Duration lease{};
  bool kill = false;
};

// Throws Refusal.
Day run_day(const DayPlan&);

}  // namespace holdfast::cli
