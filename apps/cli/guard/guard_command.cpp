#include <sys/socket.h>

#include "cli/command.hpp"
#include "cli/guard/guard.hpp"
#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

int guard(const Arguments& arguments) {
  GuardPlan plan = GuardPlan::from(arguments);
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(plan.socket, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_SEQPACKET) {
    throw UsageError("this command is for holdfast itself");
  }
  return Guard(std::move(plan)).run();
}

}  // namespace

Command guard_command() {
  return {.name = "__guard",
          .synopsis = "__guard [options] -- CMD [ARGS...]",
          .summary = "for holdfast run",
          .options = GuardPlan::options(),
          .run = guard,
          .after_dashes = AfterDashes::command};
}

}  // namespace holdfast::cli
