#include "cli/demo/late_write.hpp"

#include <atomic>
#include <stop_token>
#include <thread>

#include "cli/boot_now.hpp"
#include "cli/chosen_store.hpp"
#include "cli/demo/partner.hpp"
#include "cli/demo/shelf.hpp"
#include "cli/demo/shop_plan.hpp"
#include "cli/json.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLease = 1s;
constexpr Duration kLongPayment = 300ms;  // shorter than the time to the first renewal, a third
constexpr Duration kUntilStopped = 100ms;
constexpr int kSales = 5;
constexpr Duration kPatience = 1min;

const char* const kChecks = "checks-fences";
const char* const kDoesNot = "does-not";

std::int64_t now_ns() { return boot_now().time_since_epoch().count(); }

void report(const char* event, Json json = {}) {
  json["event"] = event;
  json["at"] = now_ns();
  print(json_text(json) + "\n");
}

Json hear(Partner& shop, const std::string& event) {
  const std::string line = shop.hear(kPatience);
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded() || json["event"] != event) {
    throw Refusal(exit_code::kInternal, "a shop says: " + line);
  }
  return json;
}

ShelfRecord after_sale(ShelfRecord record, int buyer, std::uint64_t fence) {
  record.units -= kUnitsPerBuyer;
  record.visits += 1;
  record.last = {.buyer = buyer, .units = kUnitsPerBuyer, .fence = fence};
  return record;
}

ShelfCount count(const std::filesystem::path& path) {
  const Shelf shelf(path);
  ShelfCount counted{.shelf = shelf.read().units};
  for (const Visit& visit : shelf.ledger()) counted.sold += visit.units;
  return counted;
}

Hold need(Result<Hold> hold) {
  if (!hold) throw Refusal(hold.error());
  return std::move(*hold);
}

}  // namespace

bool ShelfCount::exact() const { return sold + shelf == kUnits; }

bool LateWrite::as_promised() const {
  return fence_b_first > fence_a && !valid_when_woken && refused_because_of > fence_a && told &&
         checks.exact() && checks.sold == std::int64_t{b_sales} * kUnitsPerBuyer;
}

int run_stopped_shop(const Arguments& arguments) {
  const ShopPlan plan = ShopPlan::from(arguments);
  Shelf careful(plan.folder / kChecks);
  Shelf plain(plan.folder / kDoesNot);
  const Client client = ChosenStore(Arguments()).connect({.program = shop_name(0)});
  std::atomic<std::int64_t> lost_at = 0;

  Hold hold = need(client.mutex(plan.lock).acquire({.lease = plan.lease, .reason = "a slow card"}));
  const std::stop_callback told(hold.lost(), [&] { lost_at = now_ns(); });
  const std::uint64_t fence = hold.fence().value();
  const ShelfRecord record = after_sale(plain.read(), 0, fence);
  report("paying", {{"fence", fence}});
  std::this_thread::sleep_for(kLongPayment);

  // Here it should look at hold.valid() and give up. It looks, for the record, and writes all the same.
  const bool valid = hold.valid();
  const std::int64_t woken = now_ns();
  const std::uint64_t refused = careful.write_fenced(record);
  plain.write(record);
  const std::int64_t wrote = now_ns();
  const auto released = hold.release();
  for (int i = 0; i < 2000 && lost_at == 0; ++i) std::this_thread::sleep_for(1ms);
  report("late",
         {{"valid", valid},
          {"woken", woken},
          {"wrote", wrote},
          {"wrote_shelf", record.units},
          {"refused_because_of", refused},
          {"lost_at", lost_at.load()},
          {"release", released ? "released" : std::string(name_of(released.error().errc()))}});
  return exit_code::kDone;
}

int run_other_shop(const Arguments& arguments) {
  const ShopPlan plan = ShopPlan::from(arguments);
  Shelf careful(plan.folder / kChecks);
  Shelf plain(plan.folder / kDoesNot);
  const Client client = ChosenStore(Arguments()).connect({.program = shop_name(1)});
  const Mutex mutex = client.mutex(plan.lock);
  report("ready");
  if (hear_from_starter().empty()) return exit_code::kInternal;
  report("asks");
  for (int sale = 1; sale <= kSales; ++sale) {
    Hold hold = need(mutex.acquire({.wait = kPatience, .lease = plan.lease}));
    const std::int64_t granted = now_ns();
    const ShelfRecord record = after_sale(careful.read(), sale, hold.fence().value());
    std::this_thread::sleep_for(kPayment);
    careful.write_fenced(record);
    plain.write(record);
    report("sold",
           {{"granted", granted}, {"fence", hold.fence().value()}, {"shelf", record.units}});
    if (auto released = hold.release(); !released) throw Refusal(released.error());
  }
  return exit_code::kDone;
}

LateWrite run_late_write(const std::filesystem::path& folder, const std::string& store_url) {
  Shelf::make(folder / kChecks, kUnits);
  Shelf::make(folder / kDoesNot, kUnits);
  const ShopPlan plan{
      .folder = folder,
      .lock = "holdfast-demo/late-" + folder.filename().string() + "-" + std::to_string(now_ns()),
      .lease = kLease};
  const auto words = [&](const char* command) {
    std::vector<std::string> all = plan.words();
    all.insert(all.begin(), command);
    return all;
  };
  Partner b(words("__other_shop"), store_url);
  hear(b, "ready");
  Partner a(words("__stopped_shop"), store_url);
  const Json paying = hear(a, "paying");
  const auto start = paying["at"].get<std::int64_t>();
  const auto since = [&](std::int64_t at) { return Duration(at - start); };

  LateWrite scene{.lease = plan.lease, .fence_a = paying["fence"]};
  std::this_thread::sleep_for(kUntilStopped);
  a.stop();
  scene.stopped = since(now_ns());
  b.tell("go");
  scene.b_asked = since(hear(b, "asks")["at"]);
  for (int sale = 1; sale <= kSales; ++sale) {
    const Json sold = hear(b, "sold");
    if (sale == 1) {
      scene.b_granted = since(sold["granted"]);
      scene.fence_b_first = sold["fence"];
    }
    scene.fence_b_last = sold["fence"];
    scene.b_shelf = sold["shelf"];
    scene.b_done = since(sold["at"]);
    scene.b_sales = sale;
  }
  b.wait_for_end(kPatience);
  scene.continued = since(now_ns());
  a.go_on();
  const Json late = hear(a, "late");
  scene.woken = since(late["woken"]);
  scene.valid_when_woken = late["valid"];
  scene.wrote = since(late["wrote"]);
  scene.wrote_shelf = late["wrote_shelf"];
  scene.refused_because_of = late["refused_because_of"];
  scene.told = late["lost_at"].get<std::int64_t>() != 0;
  if (scene.told) scene.told_at = since(late["lost_at"]);
  scene.release_says = late["release"];
  a.wait_for_end(kPatience);
  scene.checks = count(folder / kChecks);
  scene.does_not = count(folder / kDoesNot);
  return scene;
}

}  // namespace holdfast::cli
