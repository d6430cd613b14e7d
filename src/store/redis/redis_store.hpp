// Redis: locks between all who reach one server, shared with the Java clients of Redisson.
//
//   redis://host:6379/0    rediss://…    redis+unix:///run/redis.sock     address.hpp
//
// Layout: keys.hpp; what each verb does: scripts/*.lua; what is said: lock_questions.hpp; the way there:
// connection.hpp, subscriber.hpp.
#pragma once

#include <memory>
#include <string>

#include "holdfast/store/factory.hpp"
#include "holdfast/store/store.hpp"
#include "store/redis/address.hpp"
#include "store/redis/claim_watches.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/question.hpp"
#include "store/redis/redis_cells.hpp"
#include "store/redis/subscriber.hpp"
#include "transport/redialler.hpp"

namespace holdfast::store::redis {

// One client's view of one server. Each verb is one script, one round trip, over one connection that all
// callers share and read in turns.
//
// Threads      All verbs from any thread; close() not on the loop.
class RedisStore final : public Store {
 public:
  RedisStore(Address, const Surroundings&, std::unique_ptr<transport::Stream>);
  ~RedisStore() override;

  // False: there was no descriptor for one of its parts. It must not be used.
  bool complete() const { return redialler_.complete() && connection_.complete(); }

  Capabilities capabilities() const override;
  void try_grant(const GrantRequest&, Call<GrantReply>) override;
  void renew(std::span<const Renewal>, Call<RenewReply>) override;
  void release(const HoldKey&, Call<ReleaseReply>) override;
  void withdraw(const ClaimKey&, Call<WithdrawReply>) override;
  WatchPtr watch(const ClaimKey&, WakeFn) override;
  void inspect(std::string_view pattern, Call<InspectReply>) override;
  void force_release(const ForceRequest&, Call<ForceReply>) override;
  void examine(Call<ExamineReply>) override;
  Cells* cells() override { return &cells_; }
  std::string place_of(Kind, const LockName&) const override;
  bool drive(const std::shared_ptr<BlockedCaller>& caller) override {
    return connection_.drive(caller);
  }
  void interrupt(const BlockedCaller& caller) override { connection_.interrupt(caller); }
  void close() override;

 private:
  template <class Answer, class Read>
  void run(Question, Call<Answer>, Read);

  const Address address_;
  const Settings settings_;
  const Clock& clock_;
  const ClientId client_;
  transport::Redialler redialler_;
  Connection connection_;
  const std::shared_ptr<Subscriber> subscriber_;
  ClaimWatches watches_;
  RedisCells cells_;
};

}  // namespace holdfast::store::redis
