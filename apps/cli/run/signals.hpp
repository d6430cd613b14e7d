#pragma once

#include <cstdint>
#include <optional>

#include <signal.h>

#include "cli/descriptor.hpp"

namespace holdfast::cli {

// The signals that are sent to `run`, read from a descriptor: nothing runs in a handler.
//
// Lifetime     Make it before the client, whose threads inherit the mask. What was ignored when the
//              program began stays ignored (nohup), and no disposition is changed, so that the job
//              finds them as we did. Only the mask is to be restored there: original_mask().
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return file_.get(); }
  std::optional<int> next();  // nothing: none is pending
  std::uint64_t original_mask() const;

  // Asks for the end of a program that does not say otherwise.
  static bool ends_us(int signal);

 private:
  sigset_t original_{};
  Descriptor file_;
};

}  // namespace holdfast::cli
