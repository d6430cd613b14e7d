#include "store/redis/lock_questions.hpp"

#include <algorithm>

#include "rules/record_text.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/time_text.hpp"

namespace holdfast::store::redis {
namespace {

// More than anybody hands on within a lease; the scripts count exactly up to 2^53.
constexpr std::uint64_t kMostSpares = 1'000'000;

std::string flag(bool yes) { return yes ? "1" : "0"; }

template <class Enum>
std::string number(Enum value) {
  return std::to_string(static_cast<int>(value));
}

}  // namespace

Question ask_grant(const GrantRequest& ask, const Settings& settings, Listens listens) {
  Question question = about(ask.name, k_try_grant_script, settings);
  append(question.arguments,
         {number(ask.kind), owner_text(ask.owner), number(ask.shape.form),
          std::to_string(ask.shape.take), std::to_string(ask.shape.of), us_text(ask.lease),
          std::to_string(std::min(ask.spare, kMostSpares)), rules::text_of(ask.record),
          flag(ask.line_up), us_text(ask.line_for), us_text(ask.confirm_within),
          ask.instead_of ? owner_text(ask.instead_of->owner) : "",
          std::to_string(ask.instead_of ? ask.instead_of->fence : 0),
          flag(listens == Listens::already)});
  return question;
}

Question ask_renewals(std::span<const Renewal> renewals, const Settings& settings) {
  Question question{.script = &k_renew_script};
  question.arguments = first_arguments(renewals.front().name, settings);
  for (const Renewal& each : renewals) {
    append(question.keys, {each.name.bytes(), lock_key(each.name)});
    append(question.arguments,
           {flag(shared_with_redisson(each.name, settings)), number(each.kind),
            owner_text(each.owner), std::to_string(each.fence), us_text(each.lease)});
  }
  return question;
}

Question ask_release(const HoldKey& key, const Settings& settings) {
  Question question = about(key.name, k_release_script, settings);
  append(question.arguments, {number(key.kind), owner_text(key.owner), std::to_string(key.fence)});
  return question;
}

Question ask_withdraw(const ClaimKey& key, const Settings& settings) {
  Question question = about(key.name, k_withdraw_script, settings);
  append(question.arguments, {number(key.kind), owner_text(key.owner)});
  return question;
}

Question ask_force(const ForceRequest& ask, const Settings& settings) {
  Question question = about(ask.name, k_force_release_script, settings);
  append(question.arguments, {number(ask.kind), std::to_string(ask.fence), flag(ask.now)});
  return question;
}

Question ask_view(const LockName& name, const Settings& settings) {
  return about(name, k_inspect_script, settings);
}

}  // namespace holdfast::store::redis
