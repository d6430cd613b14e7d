#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "holdfast/store/call.hpp"
#include "holdfast/store/watch.hpp"

namespace holdfast::store {

enum class CellKind : std::uint8_t { value, latch, size };

struct CellKey {
  CellKind kind = CellKind::value;
  LockName name;
  friend auto operator<=>(const CellKey&, const CellKey&) = default;
};

// A cell's version grows with each write and never restarts, also after the cell was emptied.
struct CellState {
  std::string bytes;
  std::uint64_t version = 0;  // 0: never written
};
struct Conflict {
  CellState now;
};
using CellReply = std::variant<NoAnswer, CellState, Conflict, Rejected>;

// Small values beside the locks: versions, latch counts, semaphore sizes. Writes carry an operation
// id so that one whose reply was lost is not applied twice.
class Cells {
 public:
  virtual void read(const CellKey&, Call<CellReply>) = 0;
  virtual void write(const CellKey&, std::string bytes, std::uint64_t expected_version, OwnerId op,
                     Call<CellReply>) = 0;
  // Adds to a decimal number, not below `floor`.
  virtual void add(const CellKey&, std::int64_t delta, std::int64_t floor, OwnerId op,
                   Call<CellReply>) = 0;
  virtual WatchPtr watch(const CellKey&, WakeFn) = 0;

 protected:
  ~Cells() = default;
};

}  // namespace holdfast::store
