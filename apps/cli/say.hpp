#pragma once

#include <string_view>

namespace holdfast::cli {

// Writes to standard error in one go, so that lines of several processes do not mix. Errors in
// writing are nobody's business: there is no better place to tell them.
void say(std::string_view text);

// Whether say() would not have to wait: a terminal may be stopped (^S), a pipe may be full.
bool can_say_now();

// Results go to standard output. Throws Refusal if they cannot: a list cut short by a full disk must
// not look complete.
void print(std::string_view text);

}  // namespace holdfast::cli
