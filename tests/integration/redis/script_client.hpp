#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "holdfast/store/requests.hpp"
#include "integration/redis/edit.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/lock_answers.hpp"
#include "store/redis/lock_questions.hpp"
#include "support/servers/redis_server.hpp"

namespace holdfast::test {

// The verbs of one client, by the scripts on a live server and without anything around them. Leases are long:
// nothing lapses by itself while a test runs.
class ScriptClient {
 public:
  explicit ScriptClient(RedisServer& server, std::uint64_t id = 1,
                        store::redis::Settings settings = {}, std::vector<Edit> edits = {})
      : server_(server), settings_(settings), edits_(std::move(edits)), id_{0xC11E47, id} {}

  static constexpr std::chrono::seconds kLease{600};

  // A new claim that lines up if it is refused.
  store::GrantRequest claim(const std::string& name, store::Kind kind = store::Kind::mutex,
                            store::Shape shape = store::Shape::exclusive()) {
    store::GrantRequest ask;
    ask.name = *store::LockName::checked(name);
    ask.kind = kind;
    ask.shape = shape;
    ask.owner = {id_, ++claims_};
    ask.lease = kLease;
    ask.record.owner = to_string(ask.owner);
    ask.record.program = "test";
    ask.line_up = true;
    ask.line_for = kLease / 2;
    ask.confirm_within = kLease / 4;
    return ask;
  }

  store::redis::GrantAnswer ask(const store::GrantRequest& request,
                                store::redis::Listens listens = store::redis::Listens::already) {
    return store::redis::grant_in(run(store::redis::ask_grant(request, settings_, listens)));
  }
  // With the fence that it got; 0 if it was not granted.
  store::HoldKey granted(const store::GrantRequest& request) {
    store::HoldKey key{request, 0};
    const auto answer = ask(request);
    if (const auto* yes = std::get_if<store::Granted>(&answer.reply)) key.fence = yes->fence;
    return key;
  }
  store::RenewalReply renew(const store::HoldKey& key) {
    const store::Renewal renewal{key, kLease};
    auto reply =
        store::redis::renewals_in(run(store::redis::ask_renewals({&renewal, 1}, settings_)), 1);
    if (auto* no = std::get_if<store::NoAnswer>(&reply)) return *no;
    return std::get<std::vector<store::RenewalReply>>(reply).front();
  }
  store::ReleaseReply release(const store::HoldKey& key) {
    return store::redis::release_in(run(store::redis::ask_release(key, settings_)));
  }
  store::ForceReply force(const store::ForceRequest& request) {
    return store::redis::force_in(run(store::redis::ask_force(request, settings_)));
  }
  std::optional<store::LockView> look(const std::string& name) {
    const auto lock = *store::LockName::checked(name);
    return std::get<std::optional<store::LockView>>(
        store::redis::view_in(run(store::redis::ask_view(lock, settings_)), lock));
  }

  std::string wake_channel() const { return store::redis::wake_channel(id_); }
  store::redis::Reply run(const store::redis::Question& question) {
    const std::string text = edited(std::string(question.script->text), edits_);
    const store::redis::Script script{question.script->name, {}, text};
    return server_.command(
        words_of({&script, question.keys, question.arguments}, store::redis::ScriptAs::text));
  }

 private:
  RedisServer& server_;
  const store::redis::Settings settings_;
  const std::vector<Edit> edits_;
  const store::ClientId id_;
  std::uint64_t claims_ = 0;
};

}  // namespace holdfast::test
