#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>

namespace holdfast::sim {

const char* const kHelp =
    "holdfast-sim                    run 1000 schedules\n"
    "  --seeds N                     run N schedules\n"
    "  --hours H                     run for so long (and at most N)\n"
    "  --first-seed S                begin with seed S (default 1), or with `random`\n"
    "  --jobs J                      threads (default: all cores)\n"
    "holdfast-sim --seed S           run one schedule\n"
    "  --trace                       print every event\n"
    "  --minimise                    leave out what is not needed to break the same rule\n"
    "  --ops 1.1.2,3.1.1             run only these operations: client, caller, round\n"
    "  --faults 4,17                 run only these faults, by their numbers in the trace\n"
    "  --dice D                      throw the dice again, over the same plan\n"
    "  --timeline text|FILE.svg      draw it: a lane for each client\n"
    "holdfast-sim-planted            the same over an engine with planted bugs\n"
    "  --bug NAME                    with this one; all of the above\n"
    "  --all [--seeds N]             each of them, until it is caught or N schedules went by\n";

namespace {

template <class Number>
bool read(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end;
}

template <class Number>
bool read(std::string_view text, std::optional<Number>& number) {
  return read(text, number.emplace());
}

bool take_flag(std::string_view option, Arguments& into) {
  if (option == "--trace") return into.trace = true;
  if (option == "--minimise" || option == "--minimize") return into.minimise = true;
  if (option == "--all") return into.all_bugs = true;
  if (option == "--help") return into.help = true;
  return false;
}

bool take_first(std::string_view value, Arguments& into) {
  into.first.reset();
  return value == "random" || read(value, into.first);
}

bool take_value(std::string_view option, std::string_view value, Arguments& into) {
  if (option == "--seeds") return read(value, into.seeds);
  if (option == "--hours") return read(value, into.hours) && *into.hours > 0;
  if (option == "--first-seed") return take_first(value, into);
  if (option == "--seed") return read(value, into.one);
  if (option == "--jobs") return read(value, into.jobs) && into.jobs > 0;
  if (option == "--ops") return (into.only.ops = parse_ops(value)).has_value();
  if (option == "--dice") return read(value, into.only.throw_of_dice);
  if (option == "--faults") return (into.only.faults = parse_faults(value)).has_value();
  if (option == "--timeline") return !(into.timeline = value).empty();
  if (option == "--bug") return !(into.bug = value).empty();
  return false;
}

// What goes with one schedule is not taken for many, where it would be lost without a word.
bool fits_together(const Arguments& all) {
  const bool is_part = all.only.ops || all.only.faults || all.only.throw_of_dice != 0;
  const bool of_one = is_part || all.trace || all.minimise || !all.timeline.empty();
  return (all.one || !of_one) && !(all.minimise && is_part);
}

}  // namespace

std::optional<Arguments> parse(int argc, const char* const* argv) {
  Arguments arguments;
  arguments.first = 1;
  arguments.jobs = std::max(1U, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    if (take_flag(argv[i], arguments)) continue;
    const std::string_view option = argv[i];
    if (++i == argc || !take_value(option, argv[i], arguments)) return std::nullopt;
  }
  if (!fits_together(arguments)) return std::nullopt;
  return arguments;
}

}  // namespace holdfast::sim
