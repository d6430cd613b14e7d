#pragma once

#include <string_view>

namespace holdfast::cli {

// completion/holdfast.bash
extern const std::string_view kBashScript;

}  // namespace holdfast::cli
