#include "cli/text/hide_secrets.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::cli {
namespace {

constexpr std::string_view kMask = "***";

struct Hidden {
  std::string text{};
  std::size_t options = std::string::npos;  // the sign before the first of them
};

// user:password@ after "//". A password may hold an unescaped '/', '?' or '@', so the last '@' counts. But if there
// is a '?' before it, that may have begun the options, and what follows the '@' is one.
Hidden hide_password(std::string_view url, Secrets secrets) {
  const std::size_t slashes = url.find("//");
  const std::size_t at = url.rfind('@');
  const std::size_t question = url.find('?');
  if (slashes == url.npos || at == url.npos || at < slashes) return {std::string(url), question};
  const std::size_t colon = url.find(':', slashes + 2);
  if (colon == url.npos || colon > at) return {std::string(url), question};
  Hidden hidden{std::string(url.substr(0, colon))};
  if (secrets == Secrets::mask) hidden.text.append(":").append(kMask);
  if (question < at) hidden.options = hidden.text.size();
  hidden.text.append(url.substr(at));
  if (question >= at) hidden.options = hidden.text.find('?');
  return hidden;
}

bool is_secret(std::string_view key) {
  if (key.find('%') != key.npos) return true;  // who knows what it says without its codes
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word : {"pass", "pwd", "secret", "token", "auth", "credential"}) {
    if (lower.find(word) != lower.npos) return true;
  }
  return lower == "key" || lower.ends_with("_key");
}

}  // namespace

std::string hide_secrets(std::string_view url, Secrets secrets) {
  const auto [text, options] = hide_password(url, secrets);
  if (options == std::string::npos) return text;

  std::string hidden = text.substr(0, options);
  char separator = text[options];
  std::string_view rest = std::string_view(text).substr(options + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const std::string_view key = pair.substr(0, pair.find('='));
    if (is_secret(key)) {
      if (secrets == Secrets::drop) continue;
      hidden.append(1, separator).append(key).append("=").append(kMask);
    } else {
      hidden.append(1, separator).append(pair);
    }
    separator = '&';
  }
  return hidden;
}

}  // namespace holdfast::cli
