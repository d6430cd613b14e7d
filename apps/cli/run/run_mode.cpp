#include "cli/run/run_mode.hpp"

#include <algorithm>
#include <charconv>

#include "cli/refusal.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

// A number at the beginning, which is cut off; 0 if there is none.
std::uint32_t take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

RunMode permits_from(const std::string& given) {
  std::string_view text = given;
  RunMode mode{.form = RunMode::Form::permits};
  mode.take = take_number(text);
  const bool slash = text.starts_with('/');
  if (slash) text.remove_prefix(1);
  mode.of = take_number(text);
  if (slash && text.empty() && mode.take >= 1 && mode.take <= mode.of && mode.of <= kMaxPermits) {
    return mode;
  }
  throw UsageError("--permits is K/N, to take K of N, such as 1/4; not \"" + shown(given) + "\"");
}

std::uint32_t taken_by(const ClaimInfo& claim) {
  std::string_view text = claim.mode;  // "2 of 8"
  return take_number(text);
}

}  // namespace

RunMode RunMode::from(const Arguments& arguments) {
  const bool shared = arguments.has("shared"), writer = arguments.has("exclusive"),
             upgradeable = arguments.has("upgradeable");
  const auto permits = arguments.value("permits");
  if (int(shared) + int(writer) + int(upgradeable) + int(permits.has_value()) > 1) {
    throw UsageError("-s, -x, -u and -p exclude each other");
  }
  if (permits) return permits_from(*permits);
  if (shared) return {.form = Form::shared};
  if (upgradeable) return {.form = Form::upgradeable};
  return {.form = writer ? Form::writer : Form::alone};
}

std::string RunMode::text() const {
  switch (form) {
    case Form::shared:
      return "shared";
    case Form::upgradeable:
      return "upgradeable";
    case Form::permits:
      return std::to_string(take) + " of " + std::to_string(of);
    case Form::alone:
    case Form::writer:
      break;
  }
  return "exclusive";
}

Pending<Hold> RunMode::acquire(const Client& client, const std::string& name,
                               AcquireOptions options) const {
  switch (form) {
    case Form::shared:
      return client.shared_mutex(name).async_acquire_shared(std::move(options));
    case Form::upgradeable:
      return client.shared_mutex(name).async_acquire_upgradeable(std::move(options));
    case Form::writer:
      return client.shared_mutex(name).async_acquire(std::move(options));
    case Form::permits:
      return client.semaphore(name, {.permits = of}).async_acquire(take, std::move(options));
    case Form::alone:
      break;
  }
  return client.mutex(name).async_acquire(std::move(options));
}

std::size_t RunMode::behind(const LockInfo& lock) const {
  std::size_t in_the_way = lock.holders.size();
  if (form == Form::shared || form == Form::upgradeable) {
    const bool alone_of_its_kind = form == Form::upgradeable;
    in_the_way = static_cast<std::size_t>(
        std::count_if(lock.holders.begin(), lock.holders.end(), [&](const ClaimInfo& holder) {
          return holder.mode == "exclusive" || (alone_of_its_kind && holder.mode == "upgradeable");
        }));
  } else if (form == Form::permits) {
    std::uint64_t taken = take;
    for (const ClaimInfo& holder : lock.holders) taken += taken_by(holder);
    if (taken <= of) in_the_way = 0;
  }
  return in_the_way + lock.line.size();
}

}  // namespace holdfast::cli
