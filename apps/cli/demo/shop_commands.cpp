// The processes of the demonstration. Hidden: `holdfast demo` starts them.
#include "cli/command.hpp"
#include "cli/demo/late_write.hpp"
#include "cli/demo/partner.hpp"
#include "cli/demo/shop.hpp"
#include "cli/exit_code.hpp"

namespace holdfast::cli {
namespace {

int shop(const Arguments& arguments) {
  serve_partner();
  Shop(ShopPlan::from(arguments)).run();
  return exit_code::kDone;
}

int stopped_shop(const Arguments& arguments) {
  serve_partner();
  return run_stopped_shop(arguments);
}

int other_shop(const Arguments& arguments) {
  serve_partner();
  return run_other_shop(arguments);
}

Command hidden(std::string_view name, int (*run)(const Arguments&)) {
  return {.name = name,
          .synopsis = name,
          .summary = "for holdfast demo",
          .options = ShopPlan::options(),
          .run = run};
}

}  // namespace

Command shop_command() { return hidden("__shop", shop); }
Command stopped_shop_command() { return hidden("__stopped_shop", stopped_shop); }
Command other_shop_command() { return hidden("__other_shop", other_shop); }

}  // namespace holdfast::cli
