// A process that uses the store: some clients, several callers on each, and an operator.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "support/child_process.hpp"
#include "torture/bugs.hpp"

namespace holdfast::torture {

struct WorkerPlan {
  std::string url;
  std::string folder;         // for the history, the board and the socket of the resource
  std::uint32_t process = 1;  // another number for each that is started
  std::uint32_t worker = 0;   // whose place it takes
  std::uint32_t generation = 0;
  std::uint32_t seats = 1;    // clients
  std::uint32_t callers = 4;  // on each
  std::uint64_t seed = 1;
  std::chrono::milliseconds lease{600};
  std::string bug{};

  test::Words words() const;
  static WorkerPlan from(const test::Words&);
};

// Where the parts of a run lie in its folder.
inline std::string history_path(const std::string& folder, std::uint32_t process) {
  return folder + "/worker-" + std::to_string(process) + ".history";
}
inline std::string board_path(const std::string& folder) { return folder + "/board"; }
inline std::string resource_path(const std::string& folder) { return folder + "/resource"; }

// A question to the store is given up after this long.
inline std::chrono::milliseconds answer_within(std::chrono::milliseconds lease) {
  return lease / 3;
}

// Tells "ready", then hears
//   cancel     one of its callers gives up                  tells "did"
//   close      one of its clients is closed                 tells "did"
//   revoke     its operator revokes somebody's hold         tells "did" or "nothing"
//   finish     waits for its callers                        tells "done"
//   watch      looks at the store, for later               tells "watched"
//   look       writes what the store shows to its history   tells "looked"
//   keep       takes every lock and looks                   tells "looked"
//   exit
extern const test::Role kWorker;

}  // namespace holdfast::torture
