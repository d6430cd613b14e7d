#include "cli/chosen_store.hpp"
#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/lock_names.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

int name(const Arguments& arguments) {
  const std::string lock = the_name(arguments, "name");
  const ChosenStore store(arguments);
  const auto place = store.connect().place_of(lock);
  if (!place) throw Refusal(place.error());
  if (arguments.has("json")) {
    Json json;
    json["schema"] = kJsonSchema;
    add_name(json, lock);
    json["store"] = store.shown_url();
    json["place"] = *place;
    print(json_text(json) + "\n");
  } else {
    print(shown(*place) + "\n");
  }
  return exit_code::kDone;
}

}  // namespace

Command name_command() {
  return {.name = "name",
          .synopsis = "name [options] NAME",
          .summary = "show how the store itself calls a lock",
          .options = {kStoreOption, {'\0', "json", "", "as JSON"}},
          .run = name};
}

}  // namespace holdfast::cli
