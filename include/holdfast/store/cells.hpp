#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "holdfast/store/call.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/store/watch.hpp"

namespace holdfast::store {

// What a cell is used for. Cells of one name and different kinds are different cells. Only `size` has to
// do with a lock of that name: it says how many permits the semaphore has (store/store.hpp, permits).
enum class CellKind : std::uint8_t { value, latch, size };

struct CellKey {
  CellKind kind = CellKind::value;
  LockName name;
  friend auto operator<=>(const CellKey&, const CellKey&) = default;
};

// What a cell holds. A version is given once: it grows with each change and never restarts. There is
// no way to delete a cell; one that is not needed any more holds an empty value.
struct CellState {
  std::string value;          // any bytes
  std::uint64_t version = 0;  // 0: never written, and the value is empty
  friend bool operator==(const CellState&, const CellState&) = default;
};

inline constexpr std::size_t kMaxCellValue = 64 * 1024;

// Names one operation, however often it is asked for. A client counts up from 1 and has at most one
// operation per cell under way: the store remembers the last one only.
struct CellOp {
  ClientId client;
  std::uint64_t number = 0;
  friend constexpr auto operator<=>(const CellOp&, const CellOp&) = default;
};

// For how long, by its own clock, a store remembers the last operation of a client on a cell. Later
// it may forget it at any time, and an operation must not be repeated any more. So what a store
// remembers is bounded by the clients that changed a cell within this time.
inline constexpr Duration kCellOpsKept = std::chrono::hours(1);

struct CellWrite {
  CellKey key;
  std::uint64_t expected = 0;  // the version that is to be replaced
  std::string value;           // at most kMaxCellValue
  CellOp op;
};

struct CellAdd {
  CellKey key;
  std::int64_t delta = 0;
  std::int64_t floor = 0;  // the sum is not less than this
  CellOp op;
};

// The operation was not done, since the cell is not what it has to be.
struct Conflict {
  CellState now;
};
using CellReply = std::variant<NoAnswer, CellState, Conflict, Rejected>;

// Called when a cell has changed, on any thread, holding no lock of the store's. A hint: it may come
// late, twice, for nothing or never.
using CellChangedFn = std::function<void()>;

// Small values beside the locks: versions, latch counts, semaphore sizes. As with locks, each verb is
// ONE attempt.
//
// The rules, each a conformance test:
//   read           Answers the state.
//   write          Replaces the value if the version is the expected one, and answers the new state;
//                  else Conflict, and nothing was done.
//   add            The value is a signed 64-bit number in decimal digits; it becomes
//                  max(value + delta, floor). A cell that was never written counts as 0. An add that
//                  changes nothing is done, but makes no new version: so a cell that was never written
//                  may stay so. Conflict if the value is no such number, or the sum would be too great.
//   once           An operation that is asked for again is not done again and gets the same answer:
//                  the state right after it, or a Conflict with the state of now. That holds whatever
//                  happened to the cell meanwhile, until the client's next operation on this cell or
//                  for kCellOpsKept.
//   older          An operation with a number below the last one of that client on that cell is Rejected
//                  with Errc::unknown: it may have been done long ago, or never will be.
//   limits         A value that is too long and an operation without a number are Rejected with
//                  Errc::invalid_argument, an empty name with Errc::invalid_name.
//   keeping        A change that was answered stays, at least as long as the store's data do; leases,
//                  sweeping and a new boot do not touch cells.
//   watch          A change of the cell is told to those who watch it.
//
// Threads      As Store.
// Lifetime     That of the Store it belongs to; close() of the Store answers every open Call.
class Cells {
 public:
  virtual void read(const CellKey&, Call<CellReply>) = 0;
  virtual void write(const CellWrite&, Call<CellReply>) = 0;
  virtual void add(const CellAdd&, Call<CellReply>) = 0;
  virtual WatchPtr watch(const CellKey&, CellChangedFn) = 0;

 protected:
  ~Cells() = default;
};

}  // namespace holdfast::store
