// Who of those below a lock has it, who waits and for whom: told by their names alone, since nobody ever comes
// before somebody who is there. A listing that is old shows too many before us, never too few.
//
//   mutex        the first has it; each one waits for the one before
//   shared       a writer as above; a reader has it if no writer is before it, and else waits for the last
//                of those writers
//   semaphore    the first may take permits as soon as there are enough; each one waits for the one before
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/store/keys.hpp"
#include "store/zookeeper/layout.hpp"

namespace holdfast::store::zookeeper {

class Line {
 public:
  // What lies below Layout::line(). Nodes of another kind and folders are not in the line.
  Line(Kind, std::vector<std::string> children);
  Line(Line&&) = default;
  Line& operator=(Line&&) = default;

  struct Contender {
    std::string_view name;
    std::string_view key;
    Tag tag = Tag::none;
    std::optional<std::uint32_t> of{};
  };
  const std::vector<Contender>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  const Contender& first() const { return all_.front(); }
  const Contender& at(std::size_t index) const { return all_[index]; }

  std::optional<std::size_t> find(std::string_view name) const;
  // Names that begin so.
  std::vector<std::string> begin_with(std::string_view mark) const;

  bool holds(std::size_t) const;
  // The one whose end is to be waited for, of one that does not hold and is not first.
  std::size_t waits_for(std::size_t) const;
  std::uint32_t waiting() const { return ahead_of(all_.size()); }
  std::uint32_t ahead_of(std::size_t) const;  // of those that wait

  // A kind that this name is in use as, by somebody who came before.
  std::optional<Kind> other_kind_before(std::size_t) const;
  // Whether there is, or was, a semaphore of this name.
  bool has_folders() const { return has_folders_; }

 private:
  Kind kind_;
  std::vector<std::string> children_;
  std::vector<Contender> all_;
  std::size_t first_writer_ = 0;
  std::optional<Contender> first_of_other_kind_;
  bool has_folders_ = false;
};

// What the children of a lock show that it is in use as, apart from a semaphore.
std::optional<Kind> kind_in_use(const std::vector<std::string>& children);

// The permits that are taken, by their names.
struct Permits {
  explicit Permits(const std::vector<std::string>& leases);

  std::uint32_t taken = 0;
  std::optional<std::uint32_t> of{};  // of how many, if one of them tells
  std::vector<std::uint32_t> slots{};

  // The lowest that nobody has. Curator's leases have none.
  std::vector<std::uint32_t> free_slots(std::uint32_t count) const;
};

}  // namespace holdfast::store::zookeeper
