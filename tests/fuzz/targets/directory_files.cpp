// The files of a shared folder: whoever can write there may have written anything.
#include <string>

#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"
#include "holdfast/store/lock_name.hpp"
#include "store/directory/failure.hpp"
#include "store/directory/generation_file.hpp"
#include "store/directory/stopwatches.hpp"
#include "store/directory/texts.hpp"

namespace holdfast::fuzz {
namespace {

using namespace store::directory;
using namespace std::chrono_literals;

bool same(const Claim& a, const Claim& b) {
  return a.owner == b.owner && a.lease == b.lease && a.spare == b.spare && a.record == b.record;
}

// Runs what reads a file; what it cannot read it says safely.
template <class Read>
void read(const Read& read) {
  try {
    read();
  } catch (const Failure& failure) {
    require_safe(failure.what());
    const Errc why = failure.no_answer().why;
    require(why == Errc::store_corrupt || why == Errc::unsupported, "a file is damaged or newer");
    require(!failure.no_answer().executed, "reading did nothing");
  }
}

const Target kDirectoryFiles("directory_files", [](std::string_view bytes) {
  const std::string text(bytes);
  const std::string path = "/shared/" + text;  // somebody chose the folder's name, too
  read([&] {
    const Claim claim = claim_from(text, path);
    require(claim.lease > Duration::zero(), "a claim has a lease");
    require(same(claim_from(text_of(claim), path), claim), "a claim reads back as the same");
    require_safe(describe(claim.record));
  });
  read([&] {
    const Beat beat = beat_from(text, path);
    const Beat again = beat_from(text_of(beat), path);
    require(again.count == beat.count && again.lease == beat.lease,
            "a beat reads back as the same");
    Stopwatches watches;
    Seen seen;
    seen.generation = 1;
    seen.beat = beat;
    seen.life = text;
    const auto name = store::LockName::checked("lock").value();
    const TimePoint now(1h);
    const auto left = watches.left(name, seen, now, now);
    require(left.lease > Duration::zero() && left.silence >= left.lease,
            "a beat is a sign of life");
    const auto later = watches.left(name, seen, now + 1h, now + 1h);
    require(later.lease <= left.lease && later.silence <= left.silence, "which passes");
  });
});

// A claim of any content is written so that it can be read.
const Target kDirectoryClaim("directory_claim", [](std::string_view bytes) {
  Input input(bytes);
  Claim claim;
  claim.owner = {{input.unsigned_number(), input.unsigned_number()}, input.unsigned_number()};
  claim.lease = std::max(Duration(1), Duration(input.number()));
  claim.spare = input.unsigned_number();
  claim.record = record_from(input);
  claim.record.owner = to_string(claim.owner);
  require(same(claim_from(text_of(claim), "file"), claim), "a claim reads back as the same");
});

const Target kGenerationFile("generation_file", [](std::string_view bytes) {
  const std::string name(bytes.substr(0, bytes.find('\0')));  // as names of files are
  const auto generation = generation_of(name);
  if (generation) require(file_of(name[0], *generation) == name, "a file of ours is called so");
  Input input(bytes);
  const std::uint64_t number = input.unsigned_number() % 10'000'000'000'000'000U;
  require(generation_of(file_of('g', number)) == number, "a generation's file names it");
});

}  // namespace
}  // namespace holdfast::fuzz
