// What things are called in ZooKeeper. Locks are called as Curator calls them, so that its clients use the
// very same:
//
//   <base>/<name>                                        a lock; below it is whoever has it or wants it:
//     _c_<uuid>-lock-0000000007                          of a mutex
//     _c_<uuid>-__READ__0000000007, …-__WRIT__0000000007 of a shared mutex
//     locks/_c_<uuid>-of-3-lock-0000000007               in the line of a semaphore of 3 permits
//     leases/_c_<uuid>-of-3-slot-1-lease-0000000009      one of these permits, the second
//   <base>/%holdfast/<kind>/<name>                       a cell
//
// The number at the end is the server's, and tells who comes before whom. Curator looks neither at the uuid
// of others nor at what stands between it and the word before the number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/store/cells.hpp"
#include "holdfast/store/keys.hpp"

namespace holdfast::store::zookeeper {

// ---- paths ----

// A name is one part of a path. What has a meaning there (/ % . ..), what ZooKeeper does not allow and what
// is not UTF-8 becomes % and two hex digits; all else stands for itself.
//
//   nightly.invoices   nightly.invoices
//   Team A/deploy      Team A%2Fdeploy        or, if names are paths: two parts
//   ..                 %2E.
class Layout {
 public:
  // `base` is "" or begins with a slash and does not end with one. `names_are_paths`: every slash in a name
  // begins a new part, as in the paths of Curator's users.
  explicit Layout(std::string base, bool names_are_paths = false)
      : base_(std::move(base)), names_are_paths_(names_are_paths) {}

  const std::string& base() const { return base_; }
  bool names_are_paths() const { return names_are_paths_; }

  std::string lock(const LockName&) const;
  // None if no lock's path is called so.
  std::optional<LockName> name_at(std::string_view path) const;

  // Where those stand who want it.
  std::string line(Kind, const LockName&) const;
  std::string leases(const LockName&) const;
  std::string cell(const CellKey&) const;

 private:
  std::string path_of(const std::string& bytes) const;

  std::string base_;
  bool names_are_paths_;
};

// "/a", "/a/b" and "/a/b/c" of the last.
std::vector<std::string> path_and_parents(std::string_view path);
std::string parent_of(std::string_view path);
std::string_view last_part_of(std::string_view path);

inline constexpr std::string_view kLocksFolder = "locks";
inline constexpr std::string_view kLeasesFolder = "leases";
inline constexpr std::string_view kOwnFolder = "%holdfast";  // no name is called so

// ---- nodes ----

// As Curator recognises what it may have made itself: one per owner, and different for all.
std::string uuid_of(const OwnerId&);
// "_c_<uuid>-": what a node of this owner begins with.
std::string mark_of(const OwnerId&);
// What is asked for: the server appends the number.
std::string line_node(const ClaimKey&);
std::string lease_node(const OwnerId&, std::uint32_t of, std::uint32_t slot);
// A reader that takes the place of a writer: the same number, and nothing is appended.
std::string reader_in_place_of(std::string_view writer, const OwnerId& reader);

enum class Tag : std::uint8_t { none, lock, read, write, lease };

struct NodeName {
  Tag tag = Tag::none;    // none: it is no node of a lock's
  std::string_view key;   // the number; whose is the smaller text comes first
  std::string_view uuid;  // empty if it has none
  std::optional<std::uint32_t> of;
  std::optional<std::uint32_t> slot;
};
NodeName parse_node(std::string_view name);
// Whether the server's numbers ran out before this node of a line. The last one, 2^31 - 1, is given to everybody from
// then on, since a server keeps only numbers that are greater; or, to those who come while others are on their way, one
// below zero, which would put them before all who were there.
inline bool lacks_number(std::string_view path) {
  const std::string_view key = parse_node(last_part_of(path)).key;
  return key.starts_with('-') || key == "2147483647";
}

}  // namespace holdfast::store::zookeeper
