#include "store/redis/redis_store.hpp"

#include <utility>

#include "rules/objections.hpp"
#include "store/redis/census.hpp"
#include "store/redis/dial.hpp"
#include "store/redis/examination.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/lock_answers.hpp"
#include "store/redis/lock_questions.hpp"
#include "store/redis/script_asker.hpp"

namespace holdfast::store::redis {

RedisStore::RedisStore(Address address, const Surroundings& around,
                       std::unique_ptr<transport::Stream> stream)
    : address_(std::move(address)),
      settings_{.interop = address_.interop},
      clock_(around.clock),
      client_(around.client),
      redialler_({.dial = dial_to(address_, around.clock),
                  .within = address_.connect_within,
                  .clock = around.clock,
                  .loop = around.loop,
                  .random = around.random}),
      connection_({address_, around.clock, around.loop, redialler_}, std::move(stream)),
      subscriber_(std::make_shared<Subscriber>(
          Subscriber::Parts{.clock = around.clock,
                            .loop = around.loop,
                            .redialler = redialler_,
                            .heard =
                                [this](const std::string& channel, const std::string& message) {
                                  if (!cells_.heard(channel)) watches_.heard(channel, message);
                                },
                            .stands =
                                [this](const std::string& channel) {
                                  if (!cells_.heard(channel)) watches_.stands(channel);
                                }})),
      watches_(subscriber_, around.client),
      cells_({connection_, settings_, subscriber_}) {}

RedisStore::~RedisStore() { close(); }

void RedisStore::close() {
  subscriber_->close();
  connection_.close();
  redialler_.stop();
}

Capabilities RedisStore::capabilities() const {
  return {.mutex_any = true,
          .mutex_fifo = true,
          .shared = true,
          .downgrade = true,
          .upgradeable = true,
          .permits = true,
          .cells = true,
          .hand_over = true,
          .inspect = true};
}

template <class Answer, class Read>
void RedisStore::run(Question question, Call<Answer> call, Read read) {
  ask_script(connection_, std::move(question), std::move(call), std::move(read));
}

void RedisStore::try_grant(const GrantRequest& request, Call<GrantReply> call) {
  if (auto why = rules::objection(request)) return call.answer(std::move(*why));
  if (is_taken_by_keys(request.name)) {
    return call.answer(Rejected{Errc::invalid_name,
                                "in Redis, keys that belong to other locks begin like this name; "
                                "choose another name"});
  }
  // Whoever listened and does not any more is passed over at once. It may be back in a moment, though: in
  // strict order it is offered the lock first.
  const bool may_be_passed_over = request.order == Order::any && watches_.listening();
  const Listens listens = may_be_passed_over ? Listens::already : Listens::not_yet;
  run(ask_grant(request, settings_, listens), std::move(call),
      [this, claim = ClaimKey(request)](const Reply& reply) {
        GrantAnswer answer = grant_in(reply);
        if (answer.foreign) {
          watches_.wait_for_another(claim);
        } else {
          watches_.wait_for_ours(claim);
        }
        return answer.reply;
      });
}

void RedisStore::renew(std::span<const Renewal> renewals, Call<RenewReply> call) {
  if (renewals.size() > kMaxBatch) {
    call.answer(
        NoAnswer{Errc::invalid_argument, false, "more renewals at once than Store::kMaxBatch"});
    return;
  }
  if (renewals.empty()) return call.answer(std::vector<RenewalReply>());
  run(ask_renewals(renewals, settings_), std::move(call),
      [asked = renewals.size()](const Reply& reply) { return renewals_in(reply, asked); });
}

void RedisStore::release(const HoldKey& hold, Call<ReleaseReply> call) {
  run(ask_release(hold, settings_), std::move(call), release_in);
}

void RedisStore::withdraw(const ClaimKey& claim, Call<WithdrawReply> call) {
  run(ask_withdraw(claim, settings_), std::move(call), withdraw_in);
}

void RedisStore::force_release(const ForceRequest& request, Call<ForceReply> call) {
  run(ask_force(request, settings_), std::move(call), force_in);
}

WatchPtr RedisStore::watch(const ClaimKey& claim, WakeFn wake) {
  return watches_.watch(claim, std::move(wake));
}

std::string RedisStore::place_of(Kind, const LockName& name) const {
  return "key " + printable(name.bytes()) + " on " + to_string(address_.server);
}

void RedisStore::examine(Call<ExamineReply> call) {
  redis::examine({.address = address_,
                  .settings = settings_,
                  .clock = clock_,
                  .connection = connection_,
                  .subscriber = subscriber_,
                  .client = client_},
                 std::move(call));
}

void RedisStore::inspect(std::string_view pattern, Call<InspectReply> call) {
  take_census(connection_, settings_, pattern, std::move(call));
}

}  // namespace holdfast::store::redis
