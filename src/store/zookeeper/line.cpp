#include "store/zookeeper/line.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast::store::zookeeper {
namespace {

bool belongs_to(Kind kind, Tag tag) {
  if (kind == Kind::shared_mutex) return tag == Tag::read || tag == Tag::write;
  return tag == Tag::lock;
}

Kind kind_of(Tag tag) { return tag == Tag::lock ? Kind::mutex : Kind::shared_mutex; }

// Of one number the writer first: the reader is about to take its place.
bool comes_before(const Line::Contender& a, const Line::Contender& b) {
  const auto order = [](const Line::Contender& each) {
    return std::tuple(each.key, each.tag != Tag::write, each.name);
  };
  return order(a) < order(b);
}

}  // namespace

Line::Line(Kind kind, std::vector<std::string> children)
    : kind_(kind), children_(std::move(children)) {
  for (const std::string& name : children_) {
    has_folders_ = has_folders_ || name == kLocksFolder || name == kLeasesFolder;
    const NodeName node = parse_node(name);
    const Contender contender{name, node.key, node.tag, node.of};
    if (belongs_to(kind, node.tag)) {
      all_.push_back(contender);
    } else if (belongs_to(kind == Kind::mutex ? Kind::shared_mutex : Kind::mutex, node.tag)) {
      const bool first = !first_of_other_kind_ || comes_before(contender, *first_of_other_kind_);
      if (first) first_of_other_kind_ = contender;
    }
  }
  std::sort(all_.begin(), all_.end(), comes_before);
  const auto writer = std::find_if(all_.begin(), all_.end(),
                                   [](const Contender& each) { return each.tag == Tag::write; });
  first_writer_ = static_cast<std::size_t>(writer - all_.begin());
}

std::optional<std::size_t> Line::find(std::string_view name) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const Contender& each) { return each.name == name; });
  if (found == all_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all_.begin());
}

std::vector<std::string> Line::begin_with(std::string_view mark) const {
  std::vector<std::string> names;
  for (const Contender& each : all_) {
    if (each.name.starts_with(mark)) names.emplace_back(each.name);
  }
  return names;
}

bool Line::holds(std::size_t index) const {
  switch (kind_) {
    case Kind::mutex:
      return index == 0;
    case Kind::shared_mutex:
      return index == 0 || index < first_writer_;
    case Kind::semaphore:
      return false;
  }
  return false;
}

std::size_t Line::waits_for(std::size_t index) const {
  std::size_t before = index - 1;
  if (all_[index].tag == Tag::read) {
    while (before > 0 && all_[before].tag != Tag::write) --before;
  }
  return before;
}

std::uint32_t Line::ahead_of(std::size_t index) const {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < index; ++i) count += holds(i) ? 0U : 1U;
  return count;
}

std::optional<Kind> Line::other_kind_before(std::size_t index) const {
  if (kind_ == Kind::semaphore || !first_of_other_kind_) return std::nullopt;
  if (all_[index].key < first_of_other_kind_->key) return std::nullopt;
  return kind_of(first_of_other_kind_->tag);
}

std::optional<Kind> kind_in_use(const std::vector<std::string>& children) {
  for (const std::string& name : children) {
    const Tag tag = parse_node(name).tag;
    if (belongs_to(Kind::mutex, tag) || belongs_to(Kind::shared_mutex, tag)) return kind_of(tag);
  }
  return std::nullopt;
}

Permits::Permits(const std::vector<std::string>& leases)
    : taken(static_cast<std::uint32_t>(leases.size())) {
  for (const std::string& name : leases) {
    const NodeName node = parse_node(name);
    if (node.of) of = node.of;
    if (node.slot) slots.push_back(*node.slot);
  }
  std::sort(slots.begin(), slots.end());
}

std::vector<std::uint32_t> Permits::free_slots(std::uint32_t count) const {
  std::vector<std::uint32_t> free;
  auto next_taken = slots.begin();
  for (std::uint32_t slot = 0; free.size() < count; ++slot) {
    while (next_taken != slots.end() && *next_taken < slot) ++next_taken;
    if (next_taken == slots.end() || *next_taken != slot) free.push_back(slot);
  }
  return free;
}

}  // namespace holdfast::store::zookeeper
