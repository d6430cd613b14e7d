// The scripts beside this file, in scripts/, as they were compiled in. Each begins with its keys, arguments and
// replies; questions.hpp speaks with them.
#pragma once

#include <string_view>

namespace holdfast::store::redis {

struct Script {
  std::string_view name;
  std::string_view sha1;  // for EVALSHA
  std::string_view text;  // for EVAL, where the server does not know it
};

extern const Script k_try_grant_script;
extern const Script k_renew_script;
extern const Script k_release_script;
extern const Script k_withdraw_script;
extern const Script k_force_release_script;
extern const Script k_inspect_script;
extern const Script k_cell_write_script;
extern const Script k_cell_add_script;
extern const Script k_probe_script;

}  // namespace holdfast::store::redis
