#include "store/redis/lock_answers.hpp"

#include <utility>

#include "rules/objections.hpp"
#include "rules/record_text.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/reply_items.hpp"
#include "store/redis/time_text.hpp"

namespace holdfast::store::redis {
namespace {

constexpr auto kLastKind = static_cast<std::uint8_t>(Kind::semaphore);
constexpr auto kLastForm = static_cast<std::uint8_t>(Shape::Form::permits);

Kind kind_of(ReplyItems& items) { return static_cast<Kind>(items.number<std::uint8_t>(kLastKind)); }

Duration time_of(ReplyItems& items) { return from_us(items.number<std::uint64_t>()); }

// An owner and its record. A record is missing where the owner is not ours.
HolderRecord record_of(const std::string& owner, const std::string& text, ReplyItems& items) {
  HolderRecord record;
  if (!text.empty()) {
    auto read = rules::record_in(text);
    if (!read) items.fail();
    record = std::move(read).value_or(HolderRecord());
  }
  const auto id = owner_in(owner);
  record.owner = id && !text.empty() ? to_string(*id) : owner;
  return record;
}

Granted granted_in(ReplyItems& items) {
  Granted yes;
  yes.fence = items.number<std::uint64_t>();
  yes.spare = items.number<std::uint64_t>();
  yes.lease = time_of(items);
  while (items.more()) yes.slots.push_back(items.number<std::uint32_t>());
  return yes;
}

Refused refused_in(ReplyItems& items) {
  Refused no;
  const std::string owner = items.text();
  const std::string record = items.text();
  if (!owner.empty()) no.holder = record_of(owner, record, items);
  no.lease_left = time_of(items);
  no.retry_after = time_of(items);
  no.ahead = items.number<std::uint32_t>();
  no.waiting = items.number<std::uint32_t>();
  no.fence_counter = items.number<std::uint64_t>();
  return no;
}

Rejected rejected_in(ReplyItems& items) {
  const std::string why = items.text();
  if (why == "kind") return rules::in_use_as(kind_of(items));
  if (why == "size" || why == "many") {
    const auto there_are = items.number<std::uint32_t>();
    const auto asked = items.number<std::uint32_t>();
    return why == "size" ? rules::other_size(there_are, Shape::permits(1, asked))
                         : rules::never_so_many(there_are, Shape::permits(asked, there_are));
  }
  if (why == "lost") return rules::old_hold_is_gone();
  if (why == "forced") return rules::old_hold_is_revoked();
  if (why == "full") return rules::fences_ran_out();
  if (why != "foreign") items.fail();
  return {Errc::invalid_argument,
          "that name is in use by another program for something else; choose another name"};
}

RenewalReply renewal_in(const Reply& reply) {
  if (reply.is(Reply::Type::integer) && reply.integer >= 0) {
    return Renewed{from_us(static_cast<std::uint64_t>(reply.integer))};
  }
  if (reply.is_text("gone")) return Gone{};
  if (reply.is_text("forced")) return Gone{.forced = true};
  return no_answer(reply);
}

ClaimView claim_in(ReplyItems items, bool& ok) {
  ClaimView claim;
  const std::string owner = items.text();
  claim.owner = owner_in(owner).value_or(OwnerId());
  claim.shape.form = static_cast<Shape::Form>(items.number<std::uint8_t>(kLastForm));
  claim.shape.take = items.number<std::uint32_t>();
  claim.shape.of = items.number<std::uint32_t>();
  claim.record = record_of(owner, items.text(), items);
  claim.fence = items.number<std::uint64_t>();
  claim.lease_left = time_of(items);
  claim.offered = items.flag();
  claim.revoked = items.flag();
  ok = ok && items.ok_and_done();
  return claim;
}

std::vector<ClaimView> claims_in(ReplyItems items, bool& ok) {
  std::vector<ClaimView> claims;
  while (items.more() && ok) claims.push_back(claim_in(items.array(), ok));
  ok = ok && items.ok();
  return claims;
}

}  // namespace

GrantAnswer grant_in(const Reply& reply) {
  ReplyItems items(reply);
  const std::string what = items.text();
  GrantAnswer answer;
  if (what == "granted") {
    answer.reply = granted_in(items);
  } else if (what == "refused") {
    answer.reply = refused_in(items);
    answer.foreign = items.flag();
  } else if (what == "rejected") {
    answer.reply = rejected_in(items);
  } else {
    items.fail();
  }
  if (!items.ok_and_done()) return {no_answer(reply)};
  return answer;
}

RenewReply renewals_in(const Reply& reply, std::size_t asked) {
  if (!reply.is(Reply::Type::array) || reply.items.size() != asked) return no_answer(reply);
  std::vector<RenewalReply> replies;
  replies.reserve(asked);
  for (const Reply& each : reply.items) replies.push_back(renewal_in(each));
  return replies;
}

ReleaseReply release_in(const Reply& reply) {
  if (reply.is_text("released")) return Released{};
  if (reply.is_text("waited for")) return Released{.others_waiting = true};
  if (reply.is_text("gone")) return Gone{};
  return no_answer(reply);
}

WithdrawReply withdraw_in(const Reply& reply) {
  if (reply.is_text("withdrawn")) return Withdrawn{};
  return no_answer(reply);
}

ForceReply force_in(const Reply& reply) {
  if (reply.is_text("forced")) return Forced{};
  if (reply.is_text("changed")) return ChangedHands{};
  if (reply.is_text("foreign")) {
    return Rejected{Errc::unsupported,
                    "a holder that is not Holdfast's cannot be told; it can only be freed at once"};
  }
  return no_answer(reply);
}

ViewReply view_in(const Reply& reply, const LockName& name) {
  if (reply.is(Reply::Type::nil)) return std::optional<LockView>();
  ReplyItems items(reply);
  LockView seen;
  seen.kind = kind_of(items);
  seen.name = name;
  bool ok = true;
  seen.holds = claims_in(items.array(), ok);
  seen.line = claims_in(items.array(), ok);
  if (!ok || !items.ok_and_done()) return no_answer(reply);
  return std::optional(std::move(seen));
}

}  // namespace holdfast::store::redis
