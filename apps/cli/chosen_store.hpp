#pragma once

#include <string>

#include "cli/arguments.hpp"
#include "cli/option.hpp"
#include "holdfast/client.hpp"
#include "holdfast/options.hpp"

namespace holdfast::cli {

inline constexpr Option kStoreOption{'S', "store", "URL",
                                     "the store; without it $HOLDFAST_URL, or embedded:"};

// The store that a command works on.
class ChosenStore {
 public:
  explicit ChosenStore(const Arguments&);
  explicit ChosenStore(std::string url) : url_(std::move(url)) {}

  // Throws Refusal with the exit code that tells a bad URL from a store that cannot be reached.
  Client connect(ClientOptions = {}) const;

  const std::string& url() const { return url_; }
  std::string shown_url() const;         // for people: secrets masked
  std::string url_for_children() const;  // without secrets

 private:
  std::string url_;
};

}  // namespace holdfast::cli
