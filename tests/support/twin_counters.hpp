#pragma once

#include <cstdint>

namespace holdfast::test {

// What a lock guards in tests: a counter that checks fences, and its twin that accepts everything.
// check::ResourceOp says how the two are used.
class TwinCounters {
 public:
  struct Values {
    bool accepted = false;  // by the fenced one
    std::uint64_t fenced = 0;
    std::uint64_t twin = 0;
  };

  Values read(std::uint64_t fence) { return {admit(fence), fenced_, twin_}; }

  bool write(std::uint64_t fence, const Values& values) {
    const bool accepted = admit(fence);
    if (accepted) fenced_ = values.fenced;
    twin_ = values.twin;
    return accepted;
  }

  std::uint64_t fenced() const { return fenced_; }
  std::uint64_t twin() const { return twin_; }

 private:
  bool admit(std::uint64_t fence) {
    if (fence < highest_) return false;
    highest_ = fence;
    return true;
  }

  std::uint64_t highest_ = 0;
  std::uint64_t fenced_ = 0;
  std::uint64_t twin_ = 0;
};

}  // namespace holdfast::test
