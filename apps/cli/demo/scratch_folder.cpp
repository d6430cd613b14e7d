#include "cli/demo/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "cli/refusal.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {

ScratchFolder::ScratchFolder() {
  std::error_code none;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(none);
  if (none) {
    throw Refusal(exit_code::kCannotCreate, "$TMPDIR is not a folder: " + none.message());
  }
  std::string name = (parent / "holdfast-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Refusal(exit_code::kCannotCreate, "cannot make a folder like " + shown(name) + ": " +
                                                std::strerror(errno) + "; $TMPDIR names another");
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace holdfast::cli
