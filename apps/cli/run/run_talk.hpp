#pragma once

#include <string>

#include "cli/run/run_holds.hpp"
#include "cli/run/run_options.hpp"
#include "cli/run/run_report.hpp"
#include "cli/run/sight.hpp"
#include "cli/run/waiting_line.hpp"
#include "cli/terminal.hpp"

namespace holdfast::cli {

// All that `run` says: on standard error, since the other streams are the command's. As text or as
// JSON lines; --quiet leaves out what is not an error.
class RunTalk {
 public:
  RunTalk(const RunOptions& options, Terminal terminal)
      : options_(options), terminal_(std::move(terminal)) {}
  ~RunTalk() { clear_line(); }
  RunTalk(const RunTalk&) = delete;
  RunTalk& operator=(const RunTalk&) = delete;

  void start_waiting() { last_line_ = Duration::zero(); }
  // When waiting() wants to be called again, seen from `waited`.
  Duration next_line(Duration waited) const;
  void waiting(const Wait&, const Sight&, TimePoint now);
  void clear_line();

  void acquired(const RunHolds&, Duration waited);
  void lost(const std::string& why);
  void left_behind(std::int64_t processes);
  void released();
  void end(const RunReport&);

 private:
  bool says(bool is_error) const { return is_error || !options_.quiet; }
  void tell(const std::string& text);
  Json event(std::string_view name) const;
  void tell(const Json&);

  const RunOptions& options_;
  Terminal terminal_;
  bool line_is_drawn_ = false;
  Duration last_line_{};
};

}  // namespace holdfast::cli
