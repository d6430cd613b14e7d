// holdfast-bench-redis: what a lock on Redis costs, beside the same scripts sent by hiredis. Short slices of
// everything in turn, so that noise hits all alike; what is shown are medians over the rounds.
#include <hiredis/hiredis.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "holdfast/holdfast.hpp"
#include "store/redis/lock_answers.hpp"
#include "store/redis/lock_questions.hpp"
#include "support/child_process.hpp"
#include "support/servers/redis_server.hpp"

namespace holdfast::test {
namespace {

using store::redis::Words;

// hiredis and the very scripts of the store, one connection.
class RawLock {
 public:
  RawLock(std::uint16_t port, const std::string& name, std::uint64_t client)
      : connection_(redisConnect("127.0.0.1", port), &redisFree), client_{0x726177, client} {
    if (!connection_ || connection_->err != 0) throw std::runtime_error("hiredis does not connect");
    ask_.name = *store::LockName::checked(name);
    ask_.kind = store::Kind::mutex;
    ask_.shape = store::Shape::exclusive();
    ask_.lease = kLease;
    ask_.record.owner = "raw";
    ask_.record.program = "bench";
  }

  void pair() {
    ask_.owner = {client_, ++claims_};
    const std::uint64_t fence = grant();
    send(store::redis::ask_release(store::HoldKey{ask_, fence}, settings_));
  }

 private:
  std::uint64_t grant() {
    const auto reply =
        send(store::redis::ask_grant(ask_, settings_, store::redis::Listens::not_yet));
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2)
      throw std::runtime_error("not granted");
    return static_cast<std::uint64_t>(reply->element[1]->integer);
  }

  using ReplyPtr = std::unique_ptr<redisReply, decltype(&freeReplyObject)>;
  ReplyPtr send(const store::redis::Question& question) {
    ReplyPtr reply = send(store::redis::words_of(question, store::redis::ScriptAs::sha1));
    if (reply->type != REDIS_REPLY_ERROR) return reply;
    return send(store::redis::words_of(question, store::redis::ScriptAs::text));
  }
  ReplyPtr send(const Words& words) {
    std::vector<const char*> argv;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      argv.push_back(word.data());
      sizes.push_back(word.size());
    }
    auto* reply = redisCommandArgv(connection_.get(), static_cast<int>(words.size()), argv.data(),
                                   sizes.data());
    if (reply == nullptr) throw std::runtime_error("hiredis has no answer");
    return {static_cast<redisReply*>(reply), &freeReplyObject};
  }

  std::unique_ptr<redisContext, decltype(&redisFree)> connection_;
  const store::ClientId client_;
  const store::redis::Settings settings_{};
  store::GrantRequest ask_{};
  std::uint64_t claims_ = 0;
};

void run(int rounds) {
  TestAuthority authority;
  RedisServer server({.tls = RedisTls{authority.issue(), authority.certificate()}});
  const std::string url = "redis://127.0.0.1:" + std::to_string(server.port());
  const std::string tls_url =
      "rediss://localhost:" + std::to_string(server.tls_port()) + "?ca=" + authority.certificate();
  const auto client = connect(url).value();
  const auto secure = connect(tls_url).value();
  RawLock raw(server.port(), "raw", 100);
  const auto alone = client.mutex("alone");
  const auto alone_tls = secure.mutex("alone");

  std::vector<double> raw_us, ours_us, tls_us, one_ratio, tls_ratio, many_raw, many, many_ratio,
      scoped, scoped_ratio, crowd, crowd_ratio;
  for (int round = 0; round < rounds; ++round) {
    const Slice by_hand = repeat([&] { raw.pair(); });
    const Slice ours = repeat([&] { pair(alone); });
    const Slice tls = repeat([&] { pair(alone_tls); });
    const double each_its_own = together([&](int i) {
      const auto lock = std::make_shared<RawLock>(server.port(), "raw" + std::to_string(i),
                                                  200 + static_cast<std::uint64_t>(i));
      return [lock] { lock->pair(); };
    });
    const auto lock_of = [&](int i) { return client.mutex("many" + std::to_string(i)); };
    const double scopes = threads_on(lock_of, scope);
    const double shared = threads_on(lock_of);
    const double one_lock = threads_on([&](int) { return client.mutex("one"); });
    raw_us.push_back(by_hand.p50());
    ours_us.push_back(ours.p50());
    tls_us.push_back(tls.p50());
    one_ratio.push_back(ours.p50() / by_hand.p50());
    tls_ratio.push_back(tls.p50() / ours.p50());
    many_raw.push_back(each_its_own);
    many.push_back(shared);
    many_ratio.push_back(shared / each_its_own);
    scoped.push_back(scopes);
    scoped_ratio.push_back(scopes / each_its_own);
    crowd.push_back(one_lock);
    crowd_ratio.push_back(one_lock / by_hand.per_second());
  }
  std::printf(
      "one caller, p50 of a pair   hiredis %6.1f us   ours %6.1f us   %.2f x   goal <= 1.15\n",
      median(raw_us), median(ours_us), median(one_ratio));
  std::printf(
      "the same over TLS                             ours %6.1f us   %.2f x plain   goal <= 2.5\n",
      median(tls_us), median(tls_ratio));
  std::printf(
      "%d callers, %d locks, each in a scope   a connection each %6.0f/s   ours %6.0f/s   %.2f x   "
      "goal >= 1.2\n",
      kThreads, kThreads, median(many_raw), median(scoped), median(scoped_ratio));
  std::printf("the same, each waiting for its release to be answered     ours %6.0f/s   %.2f x\n",
              median(many), median(many_ratio));
  std::printf(
      "%d threads, one lock   ours %6.0f/s   %.2f x the raw pairs of one caller   goal >= 4\n",
      kThreads, median(crowd), median(crowd_ratio));
  two_processes(url);
}

}  // namespace
}  // namespace holdfast::test

int main(int argc, char** argv) {
  if (const auto code = holdfast::test::run_role(argc, argv)) return *code;
  holdfast::test::run(argc > 1 ? std::atoi(argv[1]) : 7);
}
