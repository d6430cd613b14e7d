#include "core/explain.hpp"

#include <cstdio>
#include <new>

namespace holdfast::core {

std::string short_text(Duration length) {
  char text[32];
  const double seconds = std::chrono::duration<double>(length).count();
  if (length < std::chrono::seconds(1)) {
    std::snprintf(text, sizeof text, "%.0fms", seconds * 1000);
  } else {
    std::snprintf(text, sizeof text, "%.1fs", seconds);
  }
  return text;
}

namespace {

const char* next_step(Errc why) {
  switch (why) {
    case Errc::busy:
      return "try again later or give a longer wait";
    case Errc::timed_out:
      return "give a longer wait or ask the holder";
    case Errc::unavailable:
      return "check that the store is up and reachable";
    case Errc::unknown:
      return "ask again: a forgotten claim lapses within one lease";
    case Errc::permission:
      return "check the store's credentials and rights";
    case Errc::store_full:
      return "make room in the store";
    case Errc::would_deadlock:
      return "the same Owner holds it already";
    case Errc::unsupported:
      return "this store has no locks of that kind and order; its page in docs/stores says which "
             "it has";
    default:
      return nullptr;
  }
}

}  // namespace

namespace {

Error in_full(Errc why, const store::LockName& lock, Duration waited,
              const std::optional<store::Refused>& refusal, std::string_view cause) {
  Error::Detail detail;
  detail.code = why;
  detail.lock = lock.bytes();
  detail.text = std::string(name_of(why)) + ": \"" + store::printable(lock.bytes()) + "\"";
  if (why == Errc::timed_out) detail.text += " not acquired within " + short_text(waited);
  const bool says_no = why == Errc::busy || why == Errc::timed_out;
  if (says_no && refusal) {
    detail.holder = refusal->holder;
    detail.lease_left = refusal->lease_left;
    detail.ahead = refusal->ahead;
    if (refusal->holder) detail.text += "; held by " + describe(*refusal->holder);
    detail.text += "; lease " + short_text(refusal->lease_left) + " left";
    if (refusal->ahead > 0) detail.text += "; " + std::to_string(refusal->ahead) + " ahead in line";
  }
  if (!says_no && !cause.empty()) detail.text.append(": ").append(cause);
  if (const char* step = next_step(why)) detail.text += std::string("; ") + step;
  return Error(std::move(detail));
}

}  // namespace

Error explain(Errc why, const store::LockName& lock, Duration waited,
              const std::optional<store::Refused>& refusal, std::string_view cause) noexcept {
  try {
    return in_full(why, lock, waited, refusal, cause);
  } catch (const std::bad_alloc&) {
    return Error(Errc::out_of_memory);
  }
}

Error lost_error(const store::LockName& lock, LostWhy why) noexcept {
  const char* cause = "";
  switch (why) {
    case LostWhy::expired:
      cause = "its lease ran out before a renewal was answered";
      break;
    case LostWhy::gone:
      cause = "the store says it is not ours any more";
      break;
    case LostWhy::forced:
      cause = "an operator revoked it";
      break;
    case LostWhy::max_hold:
      cause = "it was held for max_hold";
      break;
  }
  return explain(why == LostWhy::forced ? Errc::forced : Errc::lost, lock, {}, std::nullopt, cause);
}

}  // namespace holdfast::core
