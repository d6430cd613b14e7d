#include "store/directory/lock_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "store/directory/failure.hpp"
#include "store/directory/generation_file.hpp"

namespace holdfast::store::directory {

using transport::Fd;
using Step = Steps::Step;

namespace {

constexpr std::size_t kCleanedAtOnce = 16;  // so that not every grant has to remove something
constexpr std::chrono::hours kAbandonedAfter{24};
constexpr int kLooks = 20;

bool is_private(const std::string& file) {
  return file.starts_with(".p-") || file.starts_with(".h-") || file.starts_with(".new-");
}

bool is_abandoned(const Folder& folder, const std::string& file, WallTime now) {
  if (!is_private(file)) return false;
  const auto changed = folder.changed(file);
  return changed && now - *changed > kAbandonedAfter;
}

}  // namespace

// ---- the folder ----

std::optional<LockFolder> LockFolder::find(const Folder& root, const Pieces& pieces) {
  auto folder = root.open(pieces.front());
  for (std::size_t i = 1; folder && i < pieces.size(); ++i) folder = folder->open(pieces[i]);
  if (!folder) return std::nullopt;
  return LockFolder(*std::move(folder));
}

void LockFolder::make(const Folder& root, const Pieces& pieces, const Place& place, WallTime now,
                      const std::string& stamp) {
  std::optional<Folder> parent;
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    const Folder& outer = parent ? *parent : root;
    outer.make(pieces[i], place.folder_mode());
    parent = outer.open(pieces[i]);
    if (!parent) fail(ENOENT, "a folder in " + shown(outer.path()));
  }

  const std::string draft = ".new-" + stamp;
  const auto first =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, now.time_since_epoch().count()));
  Claim nobody;
  nobody.lease = Duration(1);
  root.make(draft, place.folder_mode());
  try {
    const auto folder = root.open(draft);
    if (!folder) fail(ENOENT, "a new folder in " + shown(root.path()));
    folder->write_new(file_of('g', first), text_of(nobody), place.mode);
    if (const int error = folder->link(file_of('g', first), file_of('r', first)); error != 0) {
      if (error == EPERM) fail(EOPNOTSUPP, "hard links in " + shown(root.path()));
      fail(error, "cannot make a link in " + shown(folder->path()));
    }
    folder->sync();
    const Folder& outer = parent ? *parent : root;
    const int error = root.rename(draft, outer, pieces.back());
    if (error != 0 && error != ENOTEMPTY && error != EEXIST) {
      fail(error, "cannot make a folder in " + shown(outer.path()));
    }
    if (error != 0) root.remove_folder(draft);  // somebody else has made it
    outer.sync();
  } catch (...) {
    root.remove_folder(draft);
    throw;
  }
}

// ---- looking ----

std::uint64_t LockFolder::newest() const {
  std::uint64_t newest = 0;
  for (const Folder::Entry& entry : folder_.entries()) {
    const auto generation = generation_of(entry.name);
    if (generation && entry.name[0] == 'g') newest = std::max(newest, *generation);
  }
  if (newest == 0) {
    throw Failure(Errc::store_corrupt,
                  "somebody removed the files in " + shown(folder_.path()) +
                      "; when nobody uses this lock any more, remove the folder as well");
  }
  return newest;
}

bool LockFolder::released(std::uint64_t generation) const {
  return folder_.has(file_of('r', generation));
}

bool LockFolder::revoked(std::uint64_t generation) const {
  return folder_.has(file_of('v', generation));
}

Seen LockFolder::look() const {
  for (int looks = 0; looks < kLooks; ++looks) {
    Seen seen;
    seen.generation = newest();
    const std::string file = file_of('g', seen.generation);
    const auto claim = folder_.read(file);
    if (!claim) continue;  // so many newer ones that it was cleaned away
    seen.claim = claim_from(*claim, folder_.path() + "/" + file);
    seen.released = released(seen.generation);
    seen.revoked = revoked(seen.generation);
    const std::string life = file_of('h', seen.generation);
    if (const auto beat = folder_.read(life)) {
      seen.life = *beat;
      seen.beat = beat_from(*beat, folder_.path() + "/" + life);
    } else {
      seen.life = *claim;
      seen.beat.lease = seen.claim.lease;
    }
    return seen;
  }
  throw Failure(Errc::unavailable, shown(folder_.path()) + " changes faster than it can be read");
}

// ---- writing ----

bool LockFolder::over(const Seen& former) const {
  const Seen now = look();
  return now.generation == former.generation && (now.released || now.life == former.life);
}

bool LockFolder::publish(const Claim& claim, const Seen& former, const Place& place,
                         const std::string& stamp, Steps& steps) const {
  const std::string draft = ".p-" + stamp;
  const std::uint64_t generation = former.generation + 1;
  const Fd file = folder_.write_new(draft, text_of(claim), place.mode);
  steps.at(Step::prepared);
  try {
    if (!over(former)) {
      folder_.remove(draft);
      return false;
    }
  } catch (const Failure&) {
    folder_.remove(draft);
    throw;
  }
  steps.at(Step::decided);
  return perhaps_done([&] {
    const int error = steps.link_said(folder_.link(draft, file_of('g', generation)));
    // A link that was asked for twice, because the first answer was lost on a network, says that the
    // name is taken. Whether it is ours shows in the file itself.
    const bool ours = links_of(file) >= 2;
    folder_.remove(draft);
    if (!ours) {
      if (error == 0 || error == EEXIST) return false;
      fail(error, "cannot make a link in " + shown(folder_.path()));
    }
    steps.at(Step::published);
    folder_.sync();
    return newest() == generation;
  });
}

std::string LockFolder::beat(const Beat& beat, std::uint64_t generation, const Place& place,
                             const std::string& stamp) const {
  const std::string draft = ".h-" + stamp;
  std::string text = text_of(beat);
  folder_.write_new(draft, text, place.mode);
  if (const int error = folder_.rename(draft, folder_, file_of('h', generation)); error != 0) {
    folder_.remove(draft);
    fail(error, "cannot rename a file in " + shown(folder_.path()));
  }
  return text;
}

bool LockFolder::mark(char letter, std::uint64_t generation) const {
  const int error = folder_.link(file_of('g', generation), file_of(letter, generation));
  if (error == 0) return true;
  // ENOENT: so old that it was cleaned away.
  if (error == EEXIST || error == ENOENT) return false;
  fail(error, "cannot make a link in " + shown(folder_.path()));
}

// ---- cleaning ----

void LockFolder::clean(WallTime now, Steps& steps) const noexcept {
  try {
    std::set<std::uint64_t> generations;
    std::vector<std::string> files;
    std::vector<std::string> abandoned;
    for (Folder::Entry& entry : folder_.entries()) {
      if (const auto generation = generation_of(entry.name)) {
        if (entry.name[0] == 'g') generations.insert(*generation);
        files.push_back(std::move(entry.name));
      } else if (is_private(entry.name)) {
        abandoned.push_back(std::move(entry.name));
      }
    }
    for (const std::string& file : abandoned) {
      if (is_abandoned(folder_, file, now)) folder_.remove(file);
    }
    if (generations.size() < kKept + kCleanedAtOnce) return;
    const std::uint64_t oldest_kept = *std::next(generations.rbegin(), kKept - 1);
    std::erase_if(files, [&](const std::string& file) {
      return *generation_of(file) >= oldest_kept ||
             std::string_view("ghrv").find(file[0]) == std::string_view::npos;
    });
    steps.at(Step::cleaning);
    // The generation goes before its marker: one that was given back never looks held.
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) folder_.remove(file);
  } catch (const std::exception&) {  // the next holder cleans
  }
}

std::size_t abandoned_in(const Folder& folder, WallTime now) {
  std::size_t count = 0;
  for (const Folder::Entry& entry : folder.entries()) {
    if (is_abandoned(folder, entry.name, now)) ++count;
  }
  return count;
}

}  // namespace holdfast::store::directory
