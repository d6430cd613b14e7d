// What a Redis server says: replies however they are cut, what stands in them, messages, texts about itself;
// and the URLs that lead to it.
#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"
#include "holdfast/store/url.hpp"
#include "rules/record_text.hpp"
#include "store/redis/address.hpp"
#include "store/redis/cell_questions.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/lock_answers.hpp"
#include "store/redis/lock_names.hpp"
#include "store/redis/rights.hpp"
#include "store/redis/server_findings.hpp"
#include "store/redis/time_text.hpp"
#include "store/redis/wake_message.hpp"

namespace holdfast::fuzz {
namespace {

using namespace store;
using namespace store::redis;

constexpr ReplyLimits kLimits{.line = 256, .bytes = 4096, .depth = 4};

struct Heard {
  std::vector<Reply> replies;
  bool broken = false;

  friend bool operator==(const Heard&, const Heard&) = default;
};

// Fed in pieces of up to so many bytes.
Heard heard(std::string_view bytes, std::size_t piece) {
  ReplyReader reader(kLimits);
  Heard all;
  while (!bytes.empty()) {
    reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (auto reply = reader.next()) all.replies.push_back(*std::move(reply));
  }
  all.broken = reader.broken();
  return all;
}

std::size_t weight_of(const Reply& reply) {
  std::size_t weight = reply.text.size();
  for (const Reply& each : reply.items) weight += 1 + weight_of(each);
  return weight;
}

template <class Answer>
void check_no_answer(const Answer& answer) {
  if (const auto* no = std::get_if<NoAnswer>(&answer)) require_safe(no->text);
}

void check_claims(const std::vector<ClaimView>& claims) {
  for (const ClaimView& claim : claims) {
    require(claim.lease_left >= Duration::zero() && claim.lease_left <= kLongest,
            "a lease has a length");
    require_safe(describe(claim.record));
  }
}

void check_findings(const std::vector<Finding>& findings) {
  require(!findings.empty(), "there is something to say");
  for (const Finding& each : findings) require_safe(each.text);
}

// Every reader gets every reply.
void read_as_anything(const Reply& reply) {
  const GrantReply grant = grant_in(reply).reply;
  check_no_answer(grant);
  if (const auto* granted = std::get_if<Granted>(&grant)) {
    require(granted->lease >= Duration::zero() && granted->lease <= kLongest,
            "a lease has a length");
  }
  if (const auto* refused = std::get_if<Refused>(&grant)) {
    require(refused->retry_after >= Duration::zero(), "nobody looks again in the past");
  }
  for (const std::size_t asked : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
    const RenewReply renewals = renewals_in(reply, asked);
    check_no_answer(renewals);
    const auto* each = std::get_if<std::vector<RenewalReply>>(&renewals);
    require(each == nullptr || each->size() == asked, "each renewal has its answer");
  }
  check_no_answer(release_in(reply));
  check_no_answer(withdraw_in(reply));
  check_no_answer(force_in(reply));
  check_no_answer(change_in(reply));
  check_no_answer(cell_in(reply));
  check_no_answer(names_in(reply));
  const ViewReply view = view_in(reply, *LockName::checked("lock"));
  check_no_answer(view);
  if (const auto* lock = std::get_if<std::optional<LockView>>(&view); lock != nullptr && *lock) {
    check_claims((*lock)->holds);
    check_claims((*lock)->line);
  }
  check_findings(rights_in(reply, "EVAL"));
  check_findings({clock_finding(reply, WallTime(), WallTime()), user_finding({}, reply)});
}

const Target kReplies("redis_replies", [](std::string_view bytes) {
  const Heard whole = heard(bytes, std::max<std::size_t>(1, bytes.size()));
  for (const std::size_t piece : {1U, 2U, 7U}) {
    require(heard(bytes, piece) == whole, "replies mean the same however they are cut");
  }
  for (const Reply& reply : whole.replies) {
    require(weight_of(reply) <= kLimits.bytes, "a reply keeps to its limit");
    read_as_anything(reply);
  }
});

// What words we send comes over the wire as it is: a command is an array of strings.
const Target kWords("redis_words", [](std::string_view bytes) {
  Input input(bytes);
  Words words;
  while (!input.done() && words.size() < 8) words.push_back(input.text());
  if (words.empty()) return;
  std::string wire;
  append_command(wire, words);
  ReplyReader reader;
  reader.feed(wire);
  const auto back = reader.next();
  require(back && back->items.size() == words.size() && !reader.next(), "a command is one array");
  for (std::size_t i = 0; i < words.size(); ++i) {
    require(back->items[i].is_text(words[i]), "with its words");
  }
});

const Target kWake("redis_wake", [](std::string_view bytes) {
  const auto told = wake_in(bytes);
  if (!told) return;
  require(!told->lock.empty() && bytes.ends_with(told->lock), "a message ends with the lock");
  if (told->wake.offer) {
    const auto commas = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), ','));
    require(told->wake.offer->slots.size() <= commas + 1, "slots are separated by commas");
  } else {
    require(told->wake.look_after >= Duration::zero() && told->wake.look_after <= kLongest,
            "nobody looks again in the past, or never");
  }
});

const Target kRecord("redis_record", [](std::string_view bytes) {
  if (const auto record = rules::record_in(bytes)) {
    require_safe(describe(*record));
    const auto again = rules::record_in(rules::text_of(*record));
    require(again && *again == *record, "a record reads back as the same");
  }
  Input input(bytes);
  HolderRecord any = record_from(input);
  any.owner.clear();  // it stands beside
  const auto read = rules::record_in(rules::text_of(any));
  require(read.has_value() && read->host == any.host && read->program == any.program &&
              read->reason == any.reason && read->pid == any.pid,
          "any record can be written and read");
});

const Target kKeys("redis_keys", [](std::string_view bytes) {
  if (const auto name = name_in(bytes)) require(lock_key(*name) == bytes, "a key has one name");
  if (const auto owner = owner_in(bytes)) {
    require(owner_in(owner_text(*owner)) == owner, "an owner reads back as the same");
  }
  const auto name = LockName::checked(bytes);
  if (!name) return;
  const std::string key = lock_key(*name);
  require(name_in(key) == *name, "a name comes back from its key");
  require(slot_of(key) == slot_of(name->bytes()), "ours lie in the slot of the lock");
});

const Target kInfo("redis_info", [](std::string_view bytes) {
  const Reply text{.type = Reply::Type::text, .text = std::string(bytes)};
  ServerInfo info;
  info.add_info(text);
  for (const char* setting : {"appendfsync", "save", "min-replicas-to-write"}) {
    info.add_config({.type = Reply::Type::array,
                     .items = {{.type = Reply::Type::text, .text = setting}, text}});
  }
  check_findings(findings_about(info, {}));
});

const Target kAddress("redis_address", [](std::string_view bytes) {
  const std::string secret = "hunter2";
  if (bytes.find(secret) != std::string_view::npos) return;
  const std::size_t at = bytes.find('@');
  std::string text(bytes);
  if (at != std::string_view::npos) text.insert(at, ":" + secret);
  const auto url = Url::parse(text);
  if (!url) return;
  // These read files and variables.
  for (const auto& [key, value] : url->options) {
    if (key.starts_with("password_")) return;
  }
  const auto address = parse_address(*url);
  if (!address) {
    require(address.error() == Errc::invalid_argument, "a wrong URL is an invalid argument");
    require(address.error().text().find(secret) == std::string::npos, "a secret is not repeated");
    return require_safe(address.error().text());
  }
  require_safe(to_string(address->server));
  require_safe(connection_finding(*address).text);
  require(!address->server.socket_path.empty() || !address->server.endpoint.host.empty(),
          "there is somewhere to go");
});

}  // namespace
}  // namespace holdfast::fuzz
