#pragma once

#include <cstdint>
#include <string>

namespace holdfast::runtime {

// What a holder record says about this process.
struct ProcessInfo {
  std::string host;
  std::int64_t pid = 0;
  std::string program;
};

// Asks the kernel each time: the pid is another one after fork(). Nothing fails; what cannot be
// found out stays empty.
ProcessInfo this_process();

}  // namespace holdfast::runtime
