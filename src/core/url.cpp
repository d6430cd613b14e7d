#include "holdfast/store/url.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::store {
namespace {

// Positions are bytes of the whole URL, the first being 1. The text says only what was wrong there.
Error wrong(std::size_t offset, std::string_view what) {
  return Error(Errc::invalid_argument,
               "the store URL: " + std::string(what) + " at byte " + std::to_string(offset + 1));
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_control(char c) { return (c >= '\0' && c < ' ') || c == '\x7F'; }

bool fits_scheme(char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '.' || c == '-'; }

std::optional<unsigned> hex_digit(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// `begin` is where `coded` stands in the URL.
Result<std::string> undo_percent_codes(std::string_view coded, std::size_t begin) {
  std::string plain;
  plain.reserve(coded.size());
  for (std::size_t i = 0; i < coded.size(); ++i) {
    if (coded[i] != '%') {
      plain += coded[i];
      continue;
    }
    const auto high = i + 1 < coded.size() ? hex_digit(coded[i + 1]) : std::nullopt;
    const auto low = i + 2 < coded.size() ? hex_digit(coded[i + 2]) : std::nullopt;
    if (!high || !low) return wrong(begin + i, "'%' without two hex digits");
    const auto byte = static_cast<char>(*high << 4 | *low);
    if (is_control(byte)) return wrong(begin + i, "a coded control character");
    plain += byte;
    i += 2;
  }
  return plain;
}

using Options = std::map<std::string, std::string>;

Result<void> add_option(std::string_view pair, std::size_t begin, Options& options) {
  const std::size_t equals = pair.find('=');
  if (pair.empty() || equals == 0) return wrong(begin, "an option without a name");
  if (equals == pair.npos) return wrong(begin, "an option without '='");

  auto key = undo_percent_codes(pair.substr(0, equals), begin);
  if (!key) return key.error();
  auto value = undo_percent_codes(pair.substr(equals + 1), begin + equals + 1);
  if (!value) return value.error();
  if (!options.emplace(std::move(*key), std::move(*value)).second) {
    return wrong(begin, "an option given twice");
  }
  return {};
}

// `options` is what follows the question mark at `begin` - 1.
Result<Options> parse_options(std::string_view options, std::size_t begin) {
  Options parsed;
  if (options.empty()) return parsed;
  for (std::size_t at = 0; at <= options.size();) {
    const std::size_t end = std::min(options.find('&', at), options.size());
    const auto added = add_option(options.substr(at, end - at), begin + at, parsed);
    if (!added) return added.error();
    at = end + 1;
  }
  return parsed;
}

}  // namespace

Result<std::string> undo_percent_codes(std::string_view coded) {
  return undo_percent_codes(coded, 0);
}

Result<Url> Url::parse(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_control(text[i])) return wrong(i, "a control character");
  }

  const std::size_t colon = text.find(':');
  const std::string_view scheme = text.substr(0, std::min(colon, text.size()));
  if (scheme.empty()) return wrong(0, "no scheme");
  if (!is_letter(scheme[0]))
    return wrong(0, "a scheme that does not begin with a lower-case letter");
  for (std::size_t i = 1; i < scheme.size(); ++i) {
    if (!fits_scheme(scheme[i])) return wrong(i, "a character that no scheme has");
  }
  if (colon == text.npos) return wrong(text.size(), "no ':' after the scheme");

  const std::size_t question = std::min(text.find('?', colon), text.size());
  auto options = parse_options(text.substr(std::min(question + 1, text.size())), question + 1);
  if (!options) return options.error();
  return Url{std::string(scheme), std::string(text.substr(colon + 1, question - colon - 1)),
             std::move(*options)};
}

}  // namespace holdfast::store
