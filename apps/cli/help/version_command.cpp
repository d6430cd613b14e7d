#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/say.hpp"

namespace holdfast::cli {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

int version(const Arguments& arguments) {
  if (arguments.has("json")) {
    Json json;
    json["schema"] = kJsonSchema;
    json["version"] = HOLDFAST_VERSION;
    json["compiler"] = compiler();
    print(json_text(json) + "\n");
  } else {
    print("holdfast " HOLDFAST_VERSION "\n");
  }
  return exit_code::kDone;
}

}  // namespace

Command version_command() {
  return {.name = "version",
          .synopsis = "version [--json]",
          .summary = "show the version",
          .options = {{'\0', "json", "", "as JSON"}},
          .run = version};
}

}  // namespace holdfast::cli
