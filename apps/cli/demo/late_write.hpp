// The scene of the stopped holder: shop A is stopped in the middle of a payment, past its lease; shop
// B sells; shop A wakes and writes what it had in mind. Two shelves get the same writes: one compares
// fences, the other does not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/arguments.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

struct ShelfCount {
  std::int64_t sold = 0;
  std::int64_t shelf = 0;
  bool exact() const;
};

// Times count from shop A's grant.
struct LateWrite {
  Duration lease{};
  std::uint64_t fence_a = 0;
  Duration stopped{};
  Duration b_asked{};
  Duration b_granted{};
  std::uint64_t fence_b_first = 0;
  std::uint64_t fence_b_last = 0;
  int b_sales = 0;
  std::int64_t b_shelf = 0;  // what shop B left there
  Duration b_done{};
  Duration continued{};  // SIGCONT
  Duration woken{};
  bool valid_when_woken = true;
  Duration wrote{};
  std::int64_t wrote_shelf = 0;  // what shop A wrote
  std::uint64_t refused_because_of =
      0;              // the greatest fence that the careful shelf knew; 0: accepted
  bool told = false;  // lost() fired
  Duration told_at{};
  std::string release_says{};
  ShelfCount checks{};
  ShelfCount does_not{};

  // Everything went as promised: refused, told, and the careful shelf adds up.
  bool as_promised() const;
};

// Throws Refusal.
LateWrite run_late_write(const std::filesystem::path& folder, const std::string& store_url);

// The two processes of it.
int run_stopped_shop(const Arguments&);
int run_other_shop(const Arguments&);

}  // namespace holdfast::cli
