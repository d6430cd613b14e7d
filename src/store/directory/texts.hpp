// What stands in the files: lines of a word and its value, the first with the version, the last
// saying that nothing is missing.
#pragma once

#include <cstdint>
#include <string>

#include "holdfast/holder_record.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/time.hpp"

namespace holdfast::store::directory {

// A generation: who holds the lock, and for how long if it never says another word.
struct Claim {
  OwnerId owner;
  Duration lease{};
  std::uint64_t spare = 0;
  HolderRecord record;
};

// A sign of life. No two of one generation have the same text, since the count grows.
struct Beat {
  std::uint64_t count = 0;
  Duration lease{};
};

std::string text_of(const Claim&);
std::string text_of(const Beat&);

// `path` is for the error's text. On error: throws Failure(store_corrupt), or (unsupported) for a
// newer version.
Claim claim_from(const std::string& text, const std::string& path);
Beat beat_from(const std::string& text, const std::string& path);

}  // namespace holdfast::store::directory
