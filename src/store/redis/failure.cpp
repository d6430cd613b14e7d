#include "store/redis/failure.hpp"

#include <algorithm>
#include <string>

#include "holdfast/store/lock_name.hpp"

namespace holdfast::store::redis {
namespace {

constexpr std::size_t kMaxText = 200;

struct Meaning {
  std::string_view code;  // how the error begins
  Errc why;
  bool stops_at_once;  // even inside a script: nothing was written before it
  std::string_view text;
};

constexpr Meaning kMeanings[] = {
    {"NOAUTH", Errc::permission, false, "Redis wants a password; give it in the URL"},
    {"WRONGPASS", Errc::permission, false, "Redis does not accept the user or the password"},
    {"NOPERM", Errc::permission, false, "Redis does not allow it to this user"},
    {"DENIED", Errc::permission, true,
     "Redis lets in nobody from elsewhere; see its protected mode"},
    {"ERR max number of clients", Errc::unavailable, true,
     "Redis takes no more clients; see its maxclients"},
    {"ERR unknown command", Errc::permission, true,
     "Redis does not have a command that locks need; was it renamed or disabled?"},
    {"OOM", Errc::store_full, false, "Redis has used up its memory (maxmemory)"},
    {"MISCONF", Errc::store_full, true, "Redis cannot write its data to the disk"},
    {"LOADING", Errc::unavailable, true, "Redis is loading its data"},
    {"BUSY", Errc::unavailable, true, "Redis is busy with a script of somebody's"},
    {"MASTERDOWN", Errc::unavailable, true, "this Redis server has lost its master"},
    {"CLUSTERDOWN", Errc::unavailable, true, "the Redis cluster is down"},
    {"TRYAGAIN", Errc::unavailable, true, "the Redis cluster is moving this lock"},
    {"MOVED", Errc::unavailable, true, "this lock lies on another server of the Redis cluster"},
    {"ASK", Errc::unavailable, true, "the Redis cluster is moving this lock"},
    {"READONLY", Errc::unavailable, true, "this Redis server is a replica"},
    {"NOREPLICAS", Errc::unavailable, true, "this Redis server has too few replicas"},
    {"NOSCRIPT", Errc::unavailable, true, "Redis does not know the script"},
    {"CROSSSLOT", Errc::protocol, true,
     "the keys of this lock lie in different parts of the cluster"},
    {"WRONGTYPE", Errc::store_corrupt, false, "a key of this lock holds something else"},
};

bool begins_with(std::string_view error, std::string_view code) {
  return error.starts_with(code) && (error.size() == code.size() || error[code.size()] == ' ');
}

// What comes out of a running script names it; older servers begin so.
bool from_a_script(std::string_view error) {
  return error.find("script: ") != std::string_view::npos ||
         error.find("Error running script") != std::string_view::npos;
}

// Without the arguments that a server quotes, which may be anything, and with marks that need no code.
std::string in_its_words(std::string_view error) {
  error = error.substr(0, error.find(", with args"));
  std::string words(error.substr(0, kMaxText));
  std::replace(words.begin(), words.end(), '\'', '`');
  return printable(words);
}

}  // namespace

NoAnswer failure_of(std::string_view error) {
  // Servers before 7.2 have no code for what a script may not do.
  const bool denied = error.find("The user executing the script can't") != std::string_view::npos;
  const std::string_view said = denied ? "NOPERM" : error;
  for (const Meaning& each : kMeanings) {
    if (!begins_with(said, each.code)) continue;
    return {.why = each.why,
            .executed = !each.stops_at_once && from_a_script(error),
            .text = std::string(each.text) + " (" + std::string(each.code) + ")"};
  }
  return {.why = Errc::protocol, .text = "Redis answered: " + in_its_words(error)};
}

bool concerns_one_lock(const Reply& failure) {
  if (!failure.is(Reply::Type::error)) return true;  // there is something, and it makes no sense
  const NoAnswer meaning = failure_of(failure.text);
  return meaning.why == Errc::store_corrupt ||
         // A command that is not allowed is so for all locks.
         (meaning.why == Errc::permission && failure.text.find(" key") != std::string::npos);
}

NoAnswer no_answer(const Reply& reply) {
  if (reply.is(Reply::Type::error)) return failure_of(reply.text);
  return {.why = Errc::protocol, .text = "Redis answered a script in a way that makes no sense"};
}

}  // namespace holdfast::store::redis
