#include "cli/text/hide_secrets.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::cli {
namespace {

constexpr std::string_view kMask = "***";

// user:password@ after "//". A password may hold an unescaped '/', '?' or '@', so the last '@' counts.
std::string hide_password(std::string_view url, Secrets secrets) {
  const std::size_t slashes = url.find("//");
  const std::size_t at = url.rfind('@');
  if (slashes == url.npos || at == url.npos || at < slashes) return std::string(url);
  const std::size_t colon = url.find(':', slashes + 2);
  if (colon == url.npos || colon > at) return std::string(url);
  std::string hidden(url.substr(0, colon));
  if (secrets == Secrets::mask) hidden.append(":").append(kMask);
  return hidden.append(url.substr(at));
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
  std::string text = hide_password(url, secrets);
  const std::size_t question = text.find('?');
  if (question == text.npos) return text;

  std::string hidden = text.substr(0, question);
  char separator = '?';
  std::string_view rest = std::string_view(text).substr(question + 1);
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
