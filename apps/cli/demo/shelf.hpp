// A shop's shelf: a file with one number that matters, and a ledger of those who came.
//
// The shelf is one record, written in one go: how much is left, how many visits there were, and the
// last of them. The ledger gets that visit next. Whoever is killed between the two has sold; the next
// one who reads the shelf under a lock sees a visit that the ledger lacks and adds it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <vector>

#include "cli/descriptor.hpp"

namespace holdfast::cli {

// One buyer's visit. Times are nanoseconds of BOOTTIME.
struct Visit {
  std::int32_t buyer = 0;
  std::int32_t units = 0;  // 0: sold out
  std::uint64_t fence = 0;
  std::int64_t asked = 0;    // came to the door
  std::int64_t entered = 0;  // had the lock, if there is one
  std::int64_t left = 0;
};

struct ShelfRecord {
  std::int64_t units = 0;
  std::int64_t visits = 0;
  Visit last{};
};

// Threads      From any thread, and any number of processes: nothing here excludes anybody, as with
//              any file. That is the point of the demonstration.
class Shelf {
 public:
  // Throws Refusal.
  static void make(const std::filesystem::path&, std::int64_t units);
  explicit Shelf(const std::filesystem::path&);

  ShelfRecord read() const;
  // Also completes the ledger. Only for one who is alone here.
  ShelfRecord read_and_repair() const;
  void write(const ShelfRecord&) const;

  // Compares and writes in one step, as `UPDATE … WHERE fence <= ?` does: refuses, and returns the
  // greatest fence seen, if that is above the record's. 0: written.
  std::uint64_t write_fenced(const ShelfRecord&);

  std::vector<Visit> ledger() const;

 private:
  Descriptor record_;
  Descriptor ledger_;
  std::mutex step_;
};

}  // namespace holdfast::cli
