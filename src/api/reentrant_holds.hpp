#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "holdfast/hold.hpp"
#include "holdfast/result.hpp"

namespace holdfast::detail {

// A Hold and how often its owner has it. The count is guarded by the mutex of its ReentrantHolds.
struct ReentrantCell {
  explicit ReentrantCell(Hold first) : hold(std::move(first)) {}

  Hold hold;
  std::uint64_t count = 1;
};

using ReentrantCellPtr = std::shared_ptr<ReentrantCell>;

// What a client's owners hold reentrantly, by name and owner: every ReentrantMutex of the client looks
// here, so that copies agree.
//
//   event \ cell   there is none        valid               lost
//   enter_again    null: ask the store  one more            Errc::lost
//   enter          a cell, count 1      Errc::lost (*)      Errc::lost
//   leave          nothing              one less; at 0 it goes, and the caller releases the Hold
//
// (*) Cannot be while locks exclude each other; the newcomer is given up.
//
// Threads      From any thread. Under its mutex there is no store call and no user code.
// After fork   There is nothing in it, and its mutex is not touched.
class ReentrantHolds {
 public:
  explicit ReentrantHolds(std::uint64_t generation) : generation_(generation) {}
  ReentrantHolds(const ReentrantHolds&) = delete;
  ReentrantHolds& operator=(const ReentrantHolds&) = delete;

  Result<ReentrantCellPtr> enter_again(std::string_view name, std::uint64_t owner);
  Result<ReentrantCellPtr> enter(std::string_view name, std::uint64_t owner, Hold);

  // One of several that are valid or lost, or the last, whose Hold is then to be released.
  enum class Left : std::uint8_t { nothing, one_valid, one_lost, last };
  Left leave(std::string_view name, std::uint64_t owner, const ReentrantCell&);

  // What that owner has, or null.
  ReentrantCellPtr find(std::string_view name, std::uint64_t owner) const;
  std::uint64_t count(const ReentrantCell&) const;

 private:
  struct Key {
    std::string name;
    std::uint64_t owner;
  };
  struct KeyView {
    std::string_view name;
    std::uint64_t owner;
  };
  struct Less {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::tuple(a.owner, std::string_view(a.name)) <
             std::tuple(b.owner, std::string_view(b.name));
    }
  };

  bool forked() const;

  const std::uint64_t generation_;  // ForkWord's, when it was made
  mutable std::mutex mutex_;        // guards the map and every count in it
  std::map<Key, ReentrantCellPtr, Less> cells_;
};

}  // namespace holdfast::detail
