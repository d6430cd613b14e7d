// A history as a picture for people: a lane for each client, in it what it waited for, what it held, and
// what befell it. Calls of one client that overlap stand in rows one above the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/checker.hpp"
#include "checker/history.hpp"

namespace holdfast::check {

// The lane of the store itself, at the top.
inline constexpr std::uint32_t kStoreLane = 0xFFFF'FFFF;

enum class Incident : std::uint8_t {
  stopped,  // stands still
  dead,     // is gone for good
  cut_off,  // does not reach the store, or is not reached
  other     // of the store: restarted, its clock set
};

// What befell a client or the store.
struct Befell {
  std::uint32_t client = 0;  // or kStoreLane
  Incident what = Incident::other;
  Time from = 0;
  Time to = kNever;
  std::string text{};  // "SIGSTOP"
};

struct Timeline {
  const History& history;
  std::vector<Befell> befell{};
  std::vector<Violation> violations{};  // their calls are marked
  Time from = 0;                        // what is shown; nothing of it: from the first event
  Time to = kNever;                     // to the last
};

// --- what both pictures are drawn from ---

enum class State : std::uint8_t { waiting, holding, stopped, dead, cut_off, other };
enum class End : std::uint8_t { none, released, lost, refused, crashed };

struct Segment {
  State state = State::waiting;
  Time from = 0;
  Time to = 0;
  End end = End::none;
  bool violates = false;
  std::string label{};    // short: "a #17"
  std::string details{};  // a sentence
};

struct Lane {
  std::uint32_t client = 0;
  std::vector<Segment> background;         // what befell it
  std::vector<std::vector<Segment>> rows;  // in order of time; no two of a row overlap
};

struct Lanes {
  Time from = 0;
  Time to = 0;
  std::vector<Lane> lanes;
};

Lanes lanes_of(const Timeline& timeline);

// A distance between marks on the axis: 1, 2 or 5 times a power of ten, so that there are at most
// `marks` of them.
Time axis_step(Time length, int marks);
// "1.25s", "300ms", "17us", "0".
std::string axis_text(Time length);

// --- the pictures ---

// For a terminal: `width` characters for the time.
//
//   .  waits    =  holds    !  lost    x  dead    z  stopped    /  cut off    *  breaks a rule
std::string timeline_text(const Timeline& timeline, int width = 100);

// A whole SVG document; details are shown where the pointer rests.
std::string timeline_svg(const Timeline& timeline);

}  // namespace holdfast::check
