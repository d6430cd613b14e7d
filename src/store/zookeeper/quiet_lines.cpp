#include "store/zookeeper/quiet_lines.hpp"

#include <algorithm>
#include <charconv>
#include <new>
#include <optional>
#include <system_error>

#include "store/zookeeper/layout.hpp"

namespace holdfast::store::zookeeper {
namespace {

// Watches stay with the server as long as the parents do. So none is given up for another one.
constexpr std::size_t kMostWatched = 1024;
constexpr std::size_t kMostOthers = 1024;

std::optional<std::int64_t> number_of(std::string_view path) {
  const std::string_view digits = parse_node(last_part_of(path)).key;
  std::int64_t number = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (wrong != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

// Without memory for its name there is none.
void QuietLines::Known::take(std::string_view its_node, std::int64_t its_number) {
  number = kNone;
  end = End::not_yet;
  node = its_node;
  number = its_number;
}

void QuietLines::Known::be_wary() {
  in_a_row = 0;
  enough = std::min(2 * enough, kMost);
}

QuietLines::Look QuietLines::next_look(const std::string& line, std::uint64_t connection) {
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(line);
  if (found == lines_.end()) return {};
  Known& known = found->second;
  if (known.connection != connection || !known.is_quiet()) return {};
  if (known.watch == Watch::stands) return {.list = known.end == End::not_yet};
  if (known.watch == Watch::none) {
    if (watched_ >= kMostWatched) return {};
    try {
      watches_.want(line);
    } catch (const std::bad_alloc&) {
      return {};
    }
    ++watched_;
  }
  known.watch = Watch::asked_for;
  known.wish = ++last_wish_;
  return {.watch = known.wish};
}

bool QuietLines::is_alone(const std::string& line, const Made& made) {
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(line);
  if (found == lines_.end()) return false;
  Known& known = found->second;
  const bool is_next =
      known.connection == made.connection && number_of(made.node) == known.number + 1;
  // Where one of ours stands again that was granted meanwhile, others of ours may have come, too.
  if (!is_next && known.end != End::not_yet) known.be_wary();
  if (!is_next || known.watch != Watch::stands || known.end != End::certain) return false;
  try {
    known.take(made.node, known.number + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  known.enough = std::max(known.enough - 1, kLeast);
  return true;
}

void QuietLines::was_read(const std::string& line, const Made& made, const Look& look,
                          const Seen& seen) {
  const std::lock_guard lock(mutex_);
  try {
    const auto found = lines_.find(line);
    const bool goes_on = found != lines_.end() && found->second.connection == made.connection;
    Known& known = goes_on ? found->second : begin_anew(line, made);
    note_watch(line, known, look, seen.watch_set);
    const auto number = number_of(made.node);
    const bool is_next = seen.alone && number == known.number + 1;
    known.in_a_row = is_next ? known.in_a_row + 1 : 0;
    known.number = kNone;
    if (seen.alone && number) known.take(made.node, *number);
  } catch (const std::bad_alloc&) {
    if (seen.watch_set) watches_.was_set_for_nobody(line);
  }
}

void QuietLines::gave_up(const std::string& line, const Look& look) {
  if (look.watch == 0) return;
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(line);
  if (found != lines_.end()) note_watch(line, found->second, look, false);
}

void QuietLines::fired(std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(path);
  if (found == lines_.end()) return;
  end_watch(found->first, found->second);
  lines_.erase(found);
}

void QuietLines::session_ended(std::int64_t session) {
  const std::lock_guard lock(mutex_);
  for (auto each = lines_.begin(); each != lines_.end();) {
    auto& [line, known] = *each;
    if (known.session == session) {
      end_watch(line, known);
      each = lines_.erase(each);
    } else {
      ++each;
    }
  }
}

// ---- with the mutex ----

// A watch is set again over each connection of its session, so its place is not given to another line.
QuietLines::Known& QuietLines::begin_anew(const std::string& line, const Made& made) {
  if (lines_.size() - watched_ >= kMostOthers) {
    std::erase_if(lines_, [](const auto& each) { return each.second.watch == Watch::none; });
  }
  Known& known = lines_[line];
  const Watch watch = known.watch == Watch::none ? Watch::none : Watch::kept;
  known = {.connection = made.connection, .session = made.session, .watch = watch};
  return known;
}

void QuietLines::end_watch(const std::string& line, Known& known) {
  if (known.watch == Watch::none) return;
  known.watch = Watch::none;
  --watched_;
  watches_.unwant(line);
}

void QuietLines::note_watch(const std::string& line, Known& known, const Look& look, bool is_set) {
  if (look.watch == 0) return;
  const bool is_its = known.watch == Watch::asked_for && known.wish == look.watch;
  if (is_its && is_set) {
    known.watch = Watch::stands;
  } else if (is_its) {
    end_watch(line, known);
    known.be_wary();
  } else if (is_set) {
    watches_.was_set_for_nobody(line);
  }
}

void QuietLines::set_end(std::string_view node, End end) {
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(node.substr(0, node.rfind('/')));
  if (found != lines_.end() && found->second.node == node) found->second.end = end;
}

}  // namespace holdfast::store::zookeeper
