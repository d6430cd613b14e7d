#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "holdfast/fence.hpp"
#include "holdfast/store/keys.hpp"

namespace holdfast::store::zookeeper {

// A fence is the number of the change (zxid) that made the node, which grows over the whole ensemble, also
// when a container went with all its sequence numbers. Shifted, it leaves room for hand-offs between threads
// and for the reader that a writer becomes; `native` fences are the number itself, for resources that compare
// them with those of Curator's clients, and leave none.
class Fences {
 public:
  explicit Fences(bool native = false) : shift_(native ? 0 : 10) {}

  bool native() const { return shift_ == 0; }
  // None if it does not fit: after two million elections.
  std::optional<std::uint64_t> of(std::int64_t czxid) const {
    if (czxid <= 0 || static_cast<std::uint64_t>(czxid) > kMaxFence >> shift_) return std::nullopt;
    return static_cast<std::uint64_t>(czxid) << shift_;
  }

  std::uint64_t spare(Kind kind, std::uint64_t asked) const {
    return std::min(asked, kind == Kind::shared_mutex && last() > 0 ? last() - 1 : last());
  }
  // Whoever waits behind the writer has a node of its own already, and a fence: the reader's is below that.
  std::uint64_t downgraded(std::uint64_t writer) const { return writer | last(); }
  // The greatest one that any change up to this one can have given.
  std::uint64_t up_to(std::int64_t zxid) const { return of(zxid).value_or(0) | last(); }

 private:
  std::uint64_t last() const { return (std::uint64_t{1} << shift_) - 1; }

  unsigned shift_;
};

}  // namespace holdfast::store::zookeeper
