#include "cli/run/job_environment.hpp"

#include <algorithm>

#include <unistd.h>

namespace holdfast::cli {

std::vector<std::string> job_environment(const RunOptions& options, const RunHolds& holds) {
  using std::chrono::milliseconds;
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);

  const auto set = [&](const std::string& name, const std::string& value) {
    std::erase_if(variables,
                  [&](const std::string& variable) { return variable.starts_with(name + "="); });
    variables.push_back(name + "=" + value);
  };
  set("HOLDFAST_HELD", "1");
  set("HOLDFAST_LOCK", options.name);
  set("HOLDFAST_FENCE", holds.fences_text());
  set("HOLDFAST_OWNER", holds.owners());
  set("HOLDFAST_MODE", options.mode.text());
  if (const std::string slots = holds.slots(); !slots.empty()) set("HOLDFAST_SLOTS", slots);
  set("HOLDFAST_LEASE_MS",
      std::to_string(std::chrono::duration_cast<milliseconds>(options.lease).count()));
  set("HOLDFAST_STORE", options.store.url_for_children());
  return variables;
}

}  // namespace holdfast::cli
