#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/json.hpp"
#include "holdfast/fence.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// How a `run` ended. It tells a command that returned 75 from a lock that was busy.
struct RunReport {
  enum class Outcome {
    exited,       // the command ended; also by a signal
    busy,         // not acquired in time
    interrupted,  // a signal came while it waited
    lost,         // the lock was lost while the command ran
    not_started,  // the command could not be executed
    error,        // anything else
  };

  Outcome outcome = Outcome::error;
  int code = 0;             // what `run` exits with
  std::optional<int> exit;  // the command's: its exit code, or 128 and its signal
  FencingToken fence{};
  std::vector<std::uint64_t> fences{};  // with several locks: of each
  Duration waited{};
  Duration held{};
  bool lost = false;  // also with --on-lost ignore, when the outcome is the command's
  std::string text;   // what went wrong, ready to be shown
};

std::string_view name_of(RunReport::Outcome);

Json to_json(const RunReport&, std::string_view name, std::string_view shown_store);

}  // namespace holdfast::cli
