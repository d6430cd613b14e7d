#pragma once

#include <string_view>

namespace holdfast::cli {

// Pages of `holdfast help TOPIC`.
extern const std::string_view kExitCodesTopic;
extern const std::string_view kUrlsTopic;
extern const std::string_view kSafetyTopic;

}  // namespace holdfast::cli
