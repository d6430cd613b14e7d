#include "cli/chosen_store.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cli/refusal.hpp"
#include "cli/text/hide_secrets.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

std::string url_from(const Arguments& arguments) {
  if (auto given = arguments.value("store")) return *given;
  const char* variable = std::getenv("HOLDFAST_URL");
  return variable != nullptr && *variable != '\0' ? variable : "embedded:";
}

// The stores that are a file on this machine.
bool is_file(std::string_view url) {
  return url.starts_with("embedded:") || url.starts_with("sqlite:");
}

// sqlite:/path?options. Where the embedded store lies is that store's business.
bool file_exists(std::string_view url) {
  if (!url.starts_with("sqlite:")) return false;
  url.remove_prefix(std::string_view("sqlite:").size());
  std::error_code ignored;
  return std::filesystem::exists(url.substr(0, url.find('?')), ignored);
}

// A store that is a file says `permission` whether it may not use the file or cannot make it.
int exit_code_of_connect(Errc code, std::string_view url) {
  const bool file = is_file(url);
  if (code == Errc::unsupported && !file) return exit_code::kBadData;  // an unknown scheme
  const bool no_access = code == Errc::permission || code == Errc::unavailable;
  if (file && no_access && !file_exists(url)) return exit_code::kCannotCreate;
  return exit_code_of(code);
}

}  // namespace

ChosenStore::ChosenStore(const Arguments& arguments) : url_(url_from(arguments)) {}

Client ChosenStore::connect(ClientOptions options) const {
  // An empty URL would make connect() look at the environment once more.
  if (url_.empty()) throw Refusal(exit_code::kBadData, "the store URL is empty");
  auto client = holdfast::connect(url_, std::move(options));
  if (client) return std::move(*client);
  throw Refusal(exit_code_of_connect(client.error().errc(), url_),
                client.error().text() + "\n  store    " + shown_url());
}

std::string ChosenStore::shown_url() const { return shown(hide_secrets(url_, Secrets::mask)); }

std::string ChosenStore::url_for_children() const { return hide_secrets(url_, Secrets::drop); }

}  // namespace holdfast::cli
