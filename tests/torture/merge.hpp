// The histories of all workers as one, with what a dead process left open completed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/history.hpp"

namespace holdfast::torture {

using check::Time;

struct Pause {
  Time from = 0;
  Time to = 0;
};

// What a worker wrote, and what became of it.
struct WorkerHistory {
  std::string text{};
  Time killed = check::kNever;  // read before the signal was sent: it was alive then
  std::vector<Pause> pauses{};
};

// Adds it to the history.
//
//   several lines of one operation    the last one counts
//   a torn last line                  of a killed worker: dropped; else an error
//   open when it was killed           a wait is pending and crashed, a hold was valid until its death or
//                                     as long as its renewals reached
//   a hold that was lost              was valid as long as its renewals reached, or until the store said
//                                     that it was gone or it was given back
//   a wait that ended in a pause      could not return before the pause was over
//
// Returns an empty string, or what is wrong with the text.
[[nodiscard]] std::string merge(const WorkerHistory&, check::History& into);

}  // namespace holdfast::torture
