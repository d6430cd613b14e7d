// One lock: a folder in which every change of hands is a file.
//
//   g<number>   a generation: who took the lock. Written under a private name and published whole by
//               link(2), so of all who try for one number exactly one gets it. Never changed
//   h<number>   the holder's latest sign of life, replaced as a whole by rename(2)
//   v<number>   revoked: no more signs of life are accepted
//   r<number>   released
//   .p-…  .h-…  private files of a claim or a sign of life that is not published yet
//
// The newest generation rules. It is over if it has been released, or if somebody has watched it
// without a sign of life for longer than its lease; then the lock belongs to whoever publishes the
// next number. Numbers are never skipped: two claims that follow the same generation want the same
// file. Markers are links to the generation, so that giving back needs no room on a full disk.
//
// The folder is made under a private name, with a released generation in it whose number is the wall
// clock in microseconds, and renamed into its place. So it is never empty, nobody takes an absent
// file for a free lock, and fences go on above the old ones if the folder was removed. (If the first
// claim brought that number, two first claims would bring two numbers, and both would be the newest
// when they looked.)
//
// The look that decides comes after the private file was made: on a network file system a machine does
// not trust what it remembers of a folder that it has just changed itself. For the same reason a
// holder looks for what concerns it after its sign of life is written.
//
// Whoever published lists once more and holds only if nothing newer is there: it may have slept since
// it looked, for so long that its number was taken, released and cleaned away meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/store/clock.hpp"
#include "store/directory/folder.hpp"
#include "store/directory/folder_name.hpp"
#include "store/directory/place.hpp"
#include "store/directory/steps.hpp"
#include "store/directory/texts.hpp"

namespace holdfast::store::directory {

// The newest generation of a lock, as one look found it.
struct Seen {
  std::uint64_t generation = 0;
  Claim claim;
  bool released = false;
  bool revoked = false;
  Beat beat;         // count 0: none yet, the lease is the claim's
  std::string life;  // the very text of the latest sign of life
};

// On error     Throws Failure.
// Threads      One at a time.
class LockFolder {
 public:
  // Generations that are kept; whoever sleeps through more finds out when it lists again.
  static constexpr std::size_t kKept = 64;

  // Nothing: that lock was never used, or its folder was removed.
  static std::optional<LockFolder> find(const Folder& root, const Pieces&);
  // Makes it, unless somebody else does. `stamp` makes private names unique.
  static void make(const Folder& root, const Pieces&, const Place&, WallTime now,
                   const std::string& stamp);

  Seen look() const;
  std::uint64_t newest() const;
  bool released(std::uint64_t generation) const;
  bool revoked(std::uint64_t generation) const;

  // Follows a generation that is over. False: it is not, or somebody was quicker, or went past it.
  bool publish(const Claim&, const Seen& former, const Place&, const std::string& stamp,
               Steps&) const;
  // Shows that we live. The text that others will see.
  std::string beat(const Beat&, std::uint64_t generation, const Place&,
                   const std::string& stamp) const;
  // False: it was so already.
  bool release(std::uint64_t generation) const { return mark('r', generation); }
  bool revoke(std::uint64_t generation) const { return mark('v', generation); }

  // For the holder: removes all but the newest generations, and what has been private for a day.
  // However late it comes to it, it removes only what was old when it looked.
  void clean(WallTime now, Steps&) const noexcept;

 private:
  explicit LockFolder(Folder folder) : folder_(std::move(folder)) {}
  bool over(const Seen& former) const;  // as it was when that was seen
  bool mark(char letter, std::uint64_t generation) const;

  Folder folder_;
};

// Private files and folders in here that are older than a day.
std::size_t abandoned_in(const Folder&, WallTime now);

}  // namespace holdfast::store::directory
