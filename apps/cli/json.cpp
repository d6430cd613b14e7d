#include "cli/json.hpp"

#include <cstdint>

#include "cli/inspect/lock_state.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/utf8.hpp"

namespace holdfast::cli {

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void add_name(Json& json, std::string_view name) {
  json["name"] = name;
  if (is_utf8(name)) return;
  std::string hex;
  for (const char c : name) {
    const auto byte = static_cast<std::uint8_t>(c);
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 0xF];
  }
  json["name_hex"] = hex;
}

Json to_json(const HolderRecord& record) {
  Json json;
  json["owner"] = record.owner;
  json["program"] = record.program;
  json["host"] = record.host;
  json["pid"] = record.pid;
  json["since"] = tells_since(record) ? Json(iso_text(record.since)) : Json();
  json["reason"] = record.reason;
  return json;
}

Json to_json(const ClaimInfo& claim, WallTime now) {
  Json json = to_json(claim.record);
  const Duration age = age_of(claim.record.since, now);
  json["age"] = tells_since(claim.record) ? Json(seconds_of(age)) : Json();
  json["mode"] = claim.mode;
  json["lease_left"] = seconds_of(claim.lease_left);
  if (claim.fence) {
    json["fence"] = claim.fence.value();
    json["offered"] = claim.offered;
    json["revoked"] = claim.revoked;
  }
  return json;
}

Json to_json(const LockInfo& lock, std::string_view shown_store, WallTime now) {
  Json json;
  json["schema"] = kJsonSchema;
  add_name(json, lock.name);
  json["kind"] = lock.kind;
  json["mode"] = lock.mode;
  json["store"] = shown_store;
  json["holders"] = Json::array();
  for (const ClaimInfo& holder : lock.holders) json["holders"].push_back(to_json(holder, now));
  json["line"] = Json::array();
  for (const ClaimInfo& waiter : lock.line) json["line"].push_back(to_json(waiter, now));
  return json;
}

void add_error(Json& json, const Error& error) {
  json["error"] = name_of(error.errc());
  json["text"] = error.text();
}

}  // namespace holdfast::cli
