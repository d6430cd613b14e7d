#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

enum class Secrets {
  mask,  // for people: it shows that there is one
  drop,  // for a URL that goes on to another program
};

// A store URL without its password. Hides rather too much than too little: a URL that is not well
// formed may have its secret in an odd place.
std::string hide_secrets(std::string_view url, Secrets = Secrets::mask);

}  // namespace holdfast::cli
