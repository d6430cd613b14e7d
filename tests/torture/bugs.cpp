#include "torture/bugs.hpp"

#include "core/planted.hpp"

namespace holdfast::torture {

std::optional<Bug> plant(std::string_view name) {
  if (name.empty()) return Bug::none;
#define X(each, text) \
  if (name == #each) return Bug::each;
  HOLDFAST_TORTURE_BUGS(X)
#undef X
#ifdef HOLDFAST_PLANTED_BUGS
#define X(each, text)                    \
  if (name == #each) {                   \
    core::planted_bug = core::Bug::each; \
    return Bug::none;                    \
  }
  HOLDFAST_BUGS(X)
#undef X
#endif
  return std::nullopt;
}

}  // namespace holdfast::torture
