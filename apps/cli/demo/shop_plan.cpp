#include "cli/demo/shop_plan.hpp"

#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

// Our own process wrote these; anything else is somebody who plays with a hidden command.
std::uint64_t number(const Arguments& arguments, std::string_view name) {
  try {
    return std::stoull(arguments.value(name).value_or("0"));
  } catch (const std::exception&) {
    throw UsageError("this command is for holdfast itself");
  }
}

}  // namespace

std::vector<Option> ShopPlan::options() {
  return {{'\0', "folder", "PATH", ""}, {'\0', "guarding", "N", ""}, {'\0', "shop", "N", ""},
          {'\0', "seed", "N", ""},      {'\0', "articles", "N", ""}, {'\0', "lock", "NAME", ""},
          {'\0', "lease-ms", "N", ""},  {'\0', "hang-at", "N", ""},  {'\0', "reopened", "N", ""}};
}

ShopPlan ShopPlan::from(const Arguments& arguments) {
  ShopPlan plan;
  plan.folder = arguments.value("folder").value_or("");
  plan.guarding = static_cast<Guarding>(number(arguments, "guarding") % 3);
  plan.shop = static_cast<int>(number(arguments, "shop"));
  plan.seed = number(arguments, "seed");
  plan.articles = static_cast<int>(number(arguments, "articles"));
  plan.lock = arguments.value("lock").value_or("");
  plan.lease = std::chrono::milliseconds(number(arguments, "lease-ms"));
  plan.hang_at = static_cast<int>(number(arguments, "hang-at"));
  plan.reopened = number(arguments, "reopened") != 0;
  return plan;
}

std::vector<std::string> ShopPlan::words() const {
  const auto text = [](auto value) { return std::to_string(value); };
  return {"--folder",   folder.string(),
          "--guarding", text(static_cast<int>(guarding)),
          "--shop",     text(shop),
          "--seed",     text(seed),
          "--articles", text(articles),
          "--lock",     lock,
          "--lease-ms", text(lease / std::chrono::milliseconds(1)),
          "--hang-at",  text(hang_at),
          "--reopened", text(static_cast<int>(reopened))};
}

}  // namespace holdfast::cli
