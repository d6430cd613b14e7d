// Store URLs: Url::parse(), what becomes of their secrets, and the id that orders stores.
#include <string>

#include "api/store_id.hpp"
#include "cli/text/hide_secrets.hpp"
#include "cli/text/shown.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"
#include "holdfast/store/url.hpp"

namespace holdfast::fuzz {
namespace {

using store::Url;

std::string coded(const std::string& plain) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : plain) {
    const auto byte = static_cast<unsigned char>(c);
    text += '%';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string text_of(const Url& url) {
  std::string text = url.scheme + ":" + url.rest;
  char separator = '?';
  for (const auto& [key, value] : url.options) {
    text += separator + coded(key) + "=" + coded(value);
    separator = '&';
  }
  return text;
}

// The error says where, within the text, and nothing of what stands there.
void check_error(const Error& error, std::string_view bytes) {
  require(error == Errc::invalid_argument, "a wrong URL is an invalid argument");
  require_safe(error.text());
  const std::string mark = " at byte ";
  const auto at = error.text().rfind(mark);
  require(at != std::string::npos, "an error names the place");
  const std::size_t place = std::stoul(error.text().substr(at + mark.size()));
  require(place >= 1 && place <= bytes.size() + 1, "the place is inside the URL");
}

const Target kUrl("url", [](std::string_view bytes) {
  require_safe(cli::shown(cli::hide_secrets(bytes)));

  const auto url = Url::parse(bytes);
  if (!url) return check_error(url.error(), bytes);
  const auto again = Url::parse(text_of(*url));
  require(again && again->scheme == url->scheme && again->rest == url->rest &&
              again->options == url->options,
          "what is printed reads back as the same");
  require(detail::store_id(*url).starts_with(url->scheme + ":"), "an id names the scheme");
});

// The input is what stands around a secret. Whatever that is, the secret is hidden where secrets are.
const Target kSecrets("secrets", [](std::string_view bytes) {
  const std::string secret = "\x02hunter2\x03";  // cannot be in the rest by chance
  Input input(bytes);
  const std::string user = input.text(), host = input.text(), before = input.text();
  std::string key = input.text();
  for (const std::string& text : {user, host, before, key}) {
    if (text.find(secret) != std::string::npos) return;
  }
  // Any key that says "password" once its percent codes are undone.
  const std::string word = input.flag() ? "password" : "p%61ssword";
  if (key.find_first_of("=&") != std::string::npos) key.clear();
  const auto free_of = [](std::string text, std::string_view marks) {
    return text.find_first_of(marks) == std::string::npos ? text : std::string();
  };
  const std::string options =
      "?" + free_of(before, "=&") + "=1&" + key + word + "=" + secret + "&z=1";
  for (const std::string& url :
       {"redis://" + user + ":" + secret + "@" + host, "dir:/" + free_of(host, "?@") + options}) {
    for (const auto how : {cli::Secrets::mask, cli::Secrets::drop}) {
      require(cli::hide_secrets(url, how).find(secret) == std::string::npos, "a secret is hidden");
    }
  }
});

}  // namespace
}  // namespace holdfast::fuzz
