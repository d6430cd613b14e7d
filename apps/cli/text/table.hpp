#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

// Rows of cells as aligned columns. Cells are ready to be shown; nothing is cut.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace holdfast::cli
