#include "cli/run/run_report.hpp"

#include "cli/text/duration_text.hpp"

namespace holdfast::cli {

std::string_view name_of(RunReport::Outcome outcome) {
  switch (outcome) {
    case RunReport::Outcome::exited:
      return "exited";
    case RunReport::Outcome::busy:
      return "busy";
    case RunReport::Outcome::interrupted:
      return "interrupted";
    case RunReport::Outcome::lost:
      return "lost";
    case RunReport::Outcome::not_started:
      return "not_started";
    case RunReport::Outcome::error:
      return "error";
  }
  return "error";
}

Json to_json(const RunReport& report, std::string_view name, std::string_view shown_store) {
  Json json;
  json["schema"] = kJsonSchema;
  json["event"] = "end";
  json["outcome"] = name_of(report.outcome);
  json["code"] = report.code;
  json["exit"] = report.exit ? Json(*report.exit) : Json(nullptr);
  add_name(json, name);
  json["store"] = shown_store;
  json["fence"] = report.fence ? Json(report.fence.value()) : Json(nullptr);
  if (!report.fences.empty()) json["fences"] = report.fences;
  json["lost"] = report.lost;
  json["waited"] = seconds_of(report.waited);
  json["held"] = seconds_of(report.held);
  if (!report.text.empty()) json["text"] = report.text;
  return json;
}

}  // namespace holdfast::cli
