#include "store/zookeeper/watch_book.hpp"

namespace holdfast::store::zookeeper {
namespace {

// What a server notes for a question with that end.
Watched noted(Op op, Code code) {
  const bool is_there = code == Code::ok;
  switch (op) {
    case Op::exists:
      return {.data = is_there, .creation = code == Code::no_node};
    case Op::get_data:
      return {.data = is_there};
    case Op::get_children:
      return {.children = is_there};
    default:
      return {};
  }
}

}  // namespace

void WatchBook::asked(const Request& request, Code code) {
  if (!request.watch) return;
  const Watched more = noted(request.op, code);
  if (!more.any()) return;
  Watched& all = watched_[request.path];
  all.data |= more.data;
  all.creation |= more.creation;
  all.children |= more.children;
}

bool WatchBook::fired(const Firing& firing) {
  const auto found = watched_.find(firing.path);
  if (found == watched_.end()) return false;
  Watched& left = found->second;
  left.data &= !firing.ended.data;
  left.creation &= !firing.ended.creation;
  left.children &= !firing.ended.children;
  if (!left.any()) watched_.erase(found);
  return true;
}

std::vector<std::string> WatchBook::take() {
  std::vector<std::string> paths;
  for (const auto& each : watched_) paths.push_back(each.first);
  watched_.clear();
  return paths;
}

std::string WatchBook::again(std::int64_t last_zxid) const {
  std::string frames;
  WatchesAgain all(frames, last_zxid);
  for (const auto& [path, watched] : watched_) all.add(path, watched);
  all.finish();
  return frames;
}

}  // namespace holdfast::store::zookeeper
