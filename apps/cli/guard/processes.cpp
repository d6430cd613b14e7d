#include "cli/guard/processes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include <dirent.h>
#include <fcntl.h>

#include "cli/descriptor.hpp"

namespace holdfast::cli {
namespace {

std::optional<Process> read_process(const char* directory) {
  Process process;
  const char* end = directory + std::strlen(directory);
  if (const auto [rest, error] = std::from_chars(directory, end, process.pid);
      error != std::errc() || rest != end) {
    return std::nullopt;  // not a process
  }
  const Descriptor file(
      open(("/proc/" + std::string(directory) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;  // gone meanwhile
  char text[512];
  const ssize_t length = read(file.get(), text, sizeof text - 1);
  if (length <= 0) return std::nullopt;
  text[length] = '\0';
  // pid (name) state parent group …: the name may hold anything, also parentheses.
  const char* name_end = std::strrchr(text, ')');
  // The number of threads is the 20th field.
  if (name_end == nullptr ||
      std::sscanf(name_end + 1,
                  " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                  &process.state, &process.parent, &process.group, &process.threads) != 4) {
    return std::nullopt;
  }
  return process;
}

}  // namespace

std::vector<Process> all_processes() {
  std::vector<Process> all;
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return all;
  while (const dirent* entry = readdir(directory)) {
    if (const auto process = read_process(entry->d_name)) all.push_back(*process);
  }
  closedir(directory);
  return all;
}

std::vector<Process> descendants_of(pid_t root, const std::vector<Process>& all) {
  std::vector<Process> found;
  std::vector<pid_t> parents{root};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    for (const Process& process : all) {
      if (process.parent != parent || process.pid == root) continue;
      found.push_back(process);
      parents.push_back(process.pid);
    }
  }
  return found;
}

std::size_t living_members(pid_t group, const std::vector<Process>& all) {
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Process& one) {
    return one.group == group && one.alive();
  }));
}

}  // namespace holdfast::cli
