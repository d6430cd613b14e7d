#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cli/text/wall_text.hpp"
#include "holdfast/error.hpp"
#include "holdfast/inspect.hpp"

namespace holdfast::cli {

using Json = nlohmann::ordered_json;  // fields in the order in which they were added

// Grows when a field changes its meaning or goes; new fields may come at any time.
inline constexpr int kJsonSchema = 1;

// Plain ASCII: control characters and everything else are \u escapes, so a name cannot speak to a
// terminal. Bytes that are not UTF-8 become U+FFFD; see add_name().
std::string json_text(const Json&);

// "name", and "name_hex" with the exact bytes if they are not UTF-8.
void add_name(Json&, std::string_view name);

Json to_json(const HolderRecord&);
Json to_json(const ClaimInfo&, WallTime now);
Json to_json(const LockInfo&, std::string_view shown_store, WallTime now);

// {"error": "timed_out", "text": …}, into an object.
void add_error(Json&, const Error&);

}  // namespace holdfast::cli
