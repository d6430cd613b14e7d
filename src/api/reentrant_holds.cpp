#include "api/reentrant_holds.hpp"

#include <utility>

#include "holdfast/store/lock_name.hpp"
#include "runtime/fork_word.hpp"

namespace holdfast::detail {

namespace {

Error lost(std::string_view name) {
  Error::Detail detail;
  detail.code = Errc::lost;
  detail.lock = name;
  detail.text = "lost: \"" + store::printable(name) +
                "\": this owner lost it while it was locked; unlock it as often as it was locked, "
                "then lock it anew";
  return Error(std::move(detail));
}

}  // namespace

bool ReentrantHolds::forked() const { return !runtime::ForkWord::is_current(generation_); }

Result<ReentrantCellPtr> ReentrantHolds::enter_again(std::string_view name, std::uint64_t owner) {
  if (forked()) return ReentrantCellPtr();  // the store's side will say so
  {
    const std::lock_guard lock(mutex_);
    const auto found = cells_.find(KeyView{name, owner});
    if (found == cells_.end()) return ReentrantCellPtr();
    if (found->second->hold.valid()) {
      ++found->second->count;
      return found->second;
    }
  }
  return lost(name);
}

Result<ReentrantCellPtr> ReentrantHolds::enter(std::string_view name, std::uint64_t owner,
                                               Hold hold) {
  auto cell = std::make_shared<ReentrantCell>(std::move(hold));  // goes outside the mutex if unused
  {
    const std::lock_guard lock(mutex_);
    if (cells_.try_emplace(Key{std::string(name), owner}, cell).second) return cell;
  }
  return lost(name);
}

ReentrantHolds::Left ReentrantHolds::leave(std::string_view name, std::uint64_t owner,
                                           const ReentrantCell& cell) {
  if (forked()) return Left::nothing;
  ReentrantCellPtr gone;  // goes outside the mutex
  const std::lock_guard lock(mutex_);
  const auto found = cells_.find(KeyView{name, owner});
  if (found == cells_.end() || found->second.get() != &cell) return Left::nothing;
  // Looked at here: later, the last may have been released by another thread.
  if (--found->second->count > 0) return cell.hold.valid() ? Left::one_valid : Left::one_lost;
  gone = std::move(found->second);
  cells_.erase(found);
  return Left::last;
}

ReentrantCellPtr ReentrantHolds::find(std::string_view name, std::uint64_t owner) const {
  if (forked()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = cells_.find(KeyView{name, owner});
  return found == cells_.end() ? nullptr : found->second;
}

std::uint64_t ReentrantHolds::count(const ReentrantCell& cell) const {
  if (forked()) return 0;
  const std::lock_guard lock(mutex_);
  return cell.count;
}

}  // namespace holdfast::detail
