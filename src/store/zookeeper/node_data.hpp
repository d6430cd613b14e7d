// What stands in a node: who made it, for people and for those who wait.
//
//   holdfast <owner> <form> <take> <of> <lease in ms> <fence>\n, then the record (rules/record_text.hpp)
//
// Curator's clients write their address there, or what their program says. Anybody may ask the holder to let
// go by writing __REVOKE__; what we write so keeps the record behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/holder_record.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/time.hpp"
#include "store/zookeeper/fences.hpp"
#include "store/zookeeper/tree.hpp"

namespace holdfast::store::zookeeper {

struct NodeData {
  OwnerId owner;
  Shape shape;
  Duration lease{};  // what was asked for
  std::uint64_t fence =
      0;  // of a reader in the place of a writer; else it is told by the node's creation
  HolderRecord record;

  friend bool operator==(const NodeData&, const NodeData&) = default;
};

std::string text_of(const NodeData&);
// None if it is not ours. What was revoked is read as well.
std::optional<NodeData> node_data_in(std::string_view text);

bool is_revoked(std::string_view text);
// What to write over it.
std::string revoked(std::string_view text);

// Of a hold's node, which tells it or was made with it.
std::uint64_t fence_of(const std::optional<NodeData>&, const Stat&, const Fences&);

// Of a node with this name and text, whoever made it.
HolderRecord record_of(std::string_view name, std::string_view text);

}  // namespace holdfast::store::zookeeper
