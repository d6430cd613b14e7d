#include "cli/run/busy_text.hpp"

#include "cli/inspect/lock_state.hpp"
#include "cli/run/waiting_line.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"
#include "cli/text/wall_text.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// Longer than it was, in a round number that fits.
Duration longer(Duration wait) {
  for (const Duration next : {30s, 120s, 600s, 3600s}) {
    if (wait < next) return next;
  }
  return wait <= kForever / 2 ? wait * 2 : wait;
}

// As an argument of a shell that reads it back as that name.
std::string as_argument(const std::string& name) {
  const bool plain = name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                         "_./:@%+-") == std::string::npos &&
                     !name.starts_with("-");
  return plain ? name : "NAME";
}

// The store's word at the end, or what we saw of it last.
std::optional<HolderRecord> record_of(const BusyCase& busy, const Error& error) {
  if (busy.sight != nullptr && busy.sight->holder()) return busy.sight->holder()->record;
  return error.detail().holder;
}

}  // namespace

std::string busy_text(const BusyCase& busy, const Error& error, TimePoint now, WallTime wall) {
  std::string text = "holdfast: busy: " + shown(busy.name);
  text += busy.wait == Duration::zero() ? " is held by somebody else"
                                        : " not acquired within " + duration_text(busy.wait);
  text += "   (exit " + std::to_string(busy.exit_code) + ")\n";

  const auto record = record_of(busy, error);
  const bool looked = busy.sight != nullptr && busy.sight->holder().has_value();
  if (record) {
    text += "  holder   " + shown_program(*record);
    if (!record->host.empty()) {
      text += "   host " + shown(record->host) + "  pid " + std::to_string(record->pid);
    }
    if (tells_since(*record)) text += "   since " + shown_since(*record, wall);
    if (looked && busy.sight->holder()->fence) {
      text += "   fence " + std::to_string(busy.sight->holder()->fence.value());
    }
    text += "\n";
    if (!record->reason.empty()) text += "  reason   " + shown(record->reason) + "\n";
  }
  if (looked) {
    text += "  lease    " + duration_text(busy.sight->lease_left(now)) + " left";
    if (const auto ago = busy.sight->renewed_ago(now)) {
      text += ", renewed " + duration_text(*ago) + " ago: alive";
    }
    text += "\n";
  } else if (error.detail().lease_left) {
    text += "  lease    " + duration_text(*error.detail().lease_left) + " left\n";
  }
  if (busy.last_place) {
    text += "  queue    you were " + ordinal(busy.last_place->number) + " of " +
            std::to_string(busy.last_place->of) + "\n";
  } else if (busy.sight != nullptr && busy.sight->waiters() > 0) {
    text += "  queue    " + std::to_string(busy.sight->waiters()) + " waiting\n";
  }
  const std::string name = as_argument(busy.name);
  text += "  try      --wait " + duration_text(longer(busy.wait)) + "   |   holdfast show " + name;
  if (looked) {
    const FencingToken fence = busy.sight->holder()->fence;
    text += "   |   ask " + shown_program(*record) + " before: holdfast release " + name +
            " --fence " + std::to_string(fence.value()) + (fence ? "" : " --now") +
            " --reason TEXT";
  }
  return text + "\n";
}

}  // namespace holdfast::cli
