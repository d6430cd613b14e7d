#include <charconv>

#include "cli/chosen_store.hpp"
#include "cli/command.hpp"
#include "cli/inspect/lock_state.hpp"
#include "cli/lock_names.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/text/duration_text.hpp"
#include "cli/text/shown.hpp"
#include "cli/text/wall_text.hpp"

namespace holdfast::cli {
namespace {

FencingToken fence_from(const Arguments& arguments) {
  const auto text = arguments.value("fence");
  if (!text) {
    throw UsageError("--fence N says which hold you mean; holdfast show NAME tells it");
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value > kMaxFence) {
    throw Refusal(exit_code::kBadData, "--fence \"" + shown(*text) + "\" is not a fence");
  }
  if (value == 0 && !arguments.has("now")) {
    throw Refusal(exit_code::kBadData,
                  "--fence 0 means a holder that is not a client of Holdfast's: nobody can tell it "
                  "that it lost the lock, so it takes --now");
  }
  return FencingToken(value);
}

std::string reason_from(const Arguments& arguments) {
  const std::string reason = arguments.value("reason").value_or("");
  if (reason.empty()) throw UsageError("--reason TEXT is for whoever asks later; please give one");
  if (reason.size() > kMaxReason) {
    throw Refusal(exit_code::kBadData,
                  "--reason has more than " + std::to_string(kMaxReason) + " bytes");
  }
  return reason;
}

const ClaimInfo* holder_with(const std::vector<LockInfo>& found, FencingToken fence) {
  if (found.empty()) return nullptr;
  for (const ClaimInfo& holder : found.front().holders) {
    if (holder.fence == fence) return &holder;
  }
  return nullptr;
}

// What is about to happen, in words. A hold may have a later fence than the store knows of, when it
// was handed on inside its client; then there is nobody to name.
std::string announcement(const ClaimInfo* holder, bool now) {
  const std::string who = holder != nullptr ? describe(holder->record) : "its holder";
  const std::string lease =
      holder != nullptr ? " (at most " + duration_text(holder->lease_left) + ")" : "";
  if (now) {
    return "  " + who +
           " loses it at once and may still be at work; only resources that check the\n"
           "  fence are protected from what it does until it notices\n";
  }
  return "  " + who +
         " is told that it lost the lock; it is free when that lets go, or at the end\n"
         "  of its lease" +
         lease + "; exclusion is kept\n";
}

int release(const Arguments& arguments) {
  const std::string name = the_name(arguments, "release");
  const FencingToken fence = fence_from(arguments);
  const std::string reason = reason_from(arguments);
  const bool now = arguments.has("now");
  const ChosenStore store(arguments);
  const Client client = store.connect();

  const auto found = client.inspect(pattern_of(name));
  if (!found) throw Refusal(found.error());
  const ClaimInfo* holder = holder_with(*found, fence);
  if (holder != nullptr) {
    say("holdfast: " + std::string(now ? "freeing " : "revoking ") + shown(name) + ", fence " +
        std::to_string(fence.value()) + "\n" + announcement(holder, now));
  }
  const auto done = client.force_release(name, {.fence = fence, .now = now, .reason = reason});
  if (!done) throw Refusal(done.error());
  // The audit line, until stores keep one: whoever runs this may want to log it.
  print(iso_text(wall_now()) + " " + (now ? "freed" : "revoked") + " " + shown(name) + " fence " +
        std::to_string(fence.value()) +
        (holder != nullptr ? " of " + describe(holder->record) : std::string()) + " in " +
        store.shown_url() + ": " + shown(reason) + "\n");
  return exit_code::kDone;
}

}  // namespace

Command release_command() {
  return {
      .name = "release",
      .synopsis = "release [options] --fence N --reason TEXT NAME",
      .summary = "take a lock away from its holder (break glass)",
      .options =
          {kStoreOption,
           {'\0', "fence", "N",
            "of the hold that is meant, 0 if that is not Holdfast's; a later one is left alone"},
           {'\0', "reason", "TEXT", "why; shown in the audit line"},
           {'\0', "now", "", "free it at once, though its holder may be at work"}},
      .run = release,
      .notes = "Exits 1 and changes nothing if that fence does not hold the lock (any more).\n"};
}

}  // namespace holdfast::cli
