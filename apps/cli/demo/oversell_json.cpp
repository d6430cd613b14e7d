#include "cli/demo/oversell_json.hpp"

#include "cli/demo/oversell_text.hpp"

namespace holdfast::cli {
namespace {

double exact_seconds(Duration length) { return std::chrono::duration<double>(length).count(); }

Json to_json(const Killing& killing) {
  Json json;
  json["shop"] = shop_name(killing.shop);
  json["fence"] = killing.fence;
  json["at"] = exact_seconds(killing.at);
  json["take_over"] = exact_seconds(killing.take_over);
  json["take_over_by"] = shop_name(killing.take_over_by);
  json["reopened_after"] = exact_seconds(killing.reopened_after);
  json["buyers_left"] = killing.buyers_left;
  return json;
}

Json to_json(const ShelfCount& count) {
  Json json;
  json["sold"] = count.sold;
  json["shelf"] = count.shelf;
  json["sum"] = count.sold + count.shelf;
  json["exact"] = count.exact();
  return json;
}

}  // namespace

Json to_json(const Day& day) {
  Json json;
  json["lock"] = name_of(day.guarding);
  json["articles"] = day.articles;
  json["sold"] = day.sold;
  json["shelf"] = day.shelf;
  json["sum"] = day.sold + day.shelf;
  json["served"] = day.served;
  json["refused"] = day.refused;
  json["twice"] = day.twice;
  json["exact"] = day.exact();
  json["time"] = exact_seconds(day.took);
  if (day.guarding == Guarding::holdfast) {
    json["fences_grow"] = day.fences_grow;
    json["wait_p50"] = exact_seconds(day.wait_p50);
    json["wait_p99"] = exact_seconds(day.wait_p99);
  }
  if (day.killing) json["killed"] = to_json(*day.killing);
  return json;
}

Json to_json(const LateWrite& scene) {
  Json json;
  json["lease"] = exact_seconds(scene.lease);
  json["stopped"] = {{"fence", scene.fence_a},
                     {"stopped_at", exact_seconds(scene.stopped)},
                     {"continued_at", exact_seconds(scene.continued)},
                     {"woken_at", exact_seconds(scene.woken)},
                     {"valid_when_woken", scene.valid_when_woken},
                     {"told_lost", scene.told},
                     {"told_at", exact_seconds(scene.told_at)},
                     {"release", scene.release_says},
                     {"wrote_at", exact_seconds(scene.wrote)},
                     {"wrote_shelf", scene.wrote_shelf},
                     {"refused", scene.refused_because_of > 0},
                     {"refused_because_of", scene.refused_because_of}};
  json["other"] = {{"asked_at", exact_seconds(scene.b_asked)},
                   {"granted_at", exact_seconds(scene.b_granted)},
                   {"first_fence", scene.fence_b_first},
                   {"last_fence", scene.fence_b_last},
                   {"sales", scene.b_sales},
                   {"done_at", exact_seconds(scene.b_done)}};
  json["checks_fences"] = to_json(scene.checks);
  json["does_not"] = to_json(scene.does_not);
  json["as_promised"] = scene.as_promised();
  return json;
}

}  // namespace holdfast::cli
