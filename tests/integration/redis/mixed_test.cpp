// Clients of Redisson's and ours at the same lock, at random: never do two have it that exclude each other, and
// whoever has it is not thrown out by the others.
#include <map>
#include <random>

#include "integration/redis/redisson_like.hpp"
#include "integration/redis/script_client.hpp"
#include "support/effort.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using namespace store;

constexpr int kThreads = 3;
const std::string kName = "shared by all";

// Who has the lock, by what each of them was told.
class Holders {
 public:
  // Whom it must not be beside; "" if all is well.
  std::string adds(const std::string& who, Shape shape) {
    std::string beside;
    for (const auto& [other, held] : held_) {
      if (!shape.goes_with(held)) beside = other;
    }
    held_.emplace(who, shape);
    return beside;
  }
  void drops(const std::string& who) { held_.erase(who); }
  void drops_all() { held_.clear(); }
  bool has(const std::string& who) const { return held_.contains(who); }

 private:
  std::map<std::string, Shape> held_;
};

class Mixed {
 public:
  Mixed(RedisServer& server, Kind kind, unsigned seed, std::vector<Edit> mistakes = {})
      : server_(server),
        ours_(server, 1, {.silence_is_absence = false}, std::move(mistakes)),
        java_(server),
        kind_(kind),
        random_(seed) {}

  void walk(int steps) {
    for (int i = 0; i < steps && problem_.empty(); ++i) step();
  }

  const std::string& problem() const { return problem_; }
  int ours() const { return our_grants_; }
  int javas() const { return java_grants_; }

 private:
  void step() {
    if (below(20) == 0) return all_end();
    if (below(10) == 0) return late_step();
    below(3) != 0 ? java_step(static_cast<int>(below(kThreads))) : our_step();
  }

  // All holders die until their leases are over, or an operator of Redisson's frees the lock by force. What is
  // in line stays, and so do our keys, by which those who were thrown out may still be taken for holders.
  void all_end() {
    if (below(2) == 0) {
      java_.force_unlock(kName);
      server_.must({"DEL", kName});
    } else {
      server_.must({"DEL", kName});
      for (const HoldKey& key : held_) {
        server_.must(
            {"ZADD", "holdfast_holds:{" + kName + "}", "XX", "1", redis::owner_text(key.owner)});
      }
    }
    holders_.drops_all();
    ended_.insert(ended_.end(), held_.begin(), held_.end());
    held_.clear();
  }

  // One of ours that was thrown out does not know yet. It must not do harm to those who have it now.
  void late_step() {
    if (ended_.empty()) return;
    const HoldKey key = ended_.back();
    if (below(2) == 0) {
      if (std::holds_alternative<Renewed>(ours_.renew(key))) problem_ = "what ended was renewed";
      return;
    }
    ours_.release(key);
    ended_.pop_back();
  }

  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  void java_step(int thread) {
    const std::string who = RedissonLike::owner(thread);
    if (holders_.has(who)) {
      const bool had_it = kind_ == Kind::mutex ? java_.unlock(kName, thread)
                          : writes_[thread]    ? java_.write_unlock(kName, thread)
                                               : java_.read_unlock(kName, thread);
      if (!had_it) problem_ = who + " was thrown out";
      holders_.drops(who);
      return;
    }
    writes_[thread] = kind_ == Kind::mutex || below(3) == 0;
    const auto left = kind_ == Kind::mutex ? java_.lock(kName, thread)
                      : writes_[thread]    ? java_.write_lock(kName, thread)
                                           : java_.read_lock(kName, thread);
    if (left) return;
    note(who, writes_[thread] ? Shape::exclusive() : Shape::shared());
    ++java_grants_;
  }

  void note(const std::string& who, Shape shape) {
    const std::string beside = holders_.adds(who, shape);
    if (!beside.empty()) problem_ = who + " has it beside " + beside;
  }

  Shape some_shape() {
    const Shape shapes[] = {Shape::exclusive(), Shape::shared(), Shape::upgradeable()};
    return kind_ == Kind::mutex ? Shape::exclusive() : shapes[below(3)];
  }

  void our_step() {
    if (!held_.empty() && below(2) == 0) {
      const std::size_t at = below(static_cast<unsigned>(held_.size()));
      const HoldKey key = held_[at];
      const bool renews = below(3) == 0;
      const bool had_it = renews ? std::holds_alternative<Renewed>(ours_.renew(key))
                                 : std::holds_alternative<Released>(ours_.release(key));
      if (!had_it) problem_ = redis::owner_text(key.owner) + ", one of ours, was thrown out";
      if (renews) return;
      holders_.drops(redis::owner_text(key.owner));
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    }
    // New ones, and those that wait already and may have been handed the lock meanwhile.
    const bool again = !waiting_.empty() && (waiting_.size() > 1 || below(2) == 0);
    if (!again) waiting_.push_back(ours_.claim(kName, kind_, some_shape()));
    const std::size_t at =
        again ? below(static_cast<unsigned>(waiting_.size())) : waiting_.size() - 1;
    const GrantRequest ask = waiting_[at];
    const HoldKey key = ours_.granted(ask);
    if (key.fence == 0) return;
    note(redis::owner_text(key.owner), key.shape);
    ++our_grants_;
    held_.push_back(key);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  RedisServer& server_;
  ScriptClient ours_;
  RedissonLike java_;
  const Kind kind_;
  std::mt19937 random_;
  Holders holders_;
  std::map<int, bool> writes_;
  std::vector<GrantRequest> waiting_;
  std::vector<HoldKey> held_;
  std::vector<HoldKey> ended_;  // which their clients do not know
  std::string problem_;
  int our_grants_ = 0;
  int java_grants_ = 0;
};

class RedissonAndOurs : public testing::TestWithParam<Kind> {};

TEST_P(RedissonAndOurs, ExcludeEachOtherWhateverTheyDo) {
  RedisServer server;
  const unsigned seed = chosen_seed();
  const int steps = times_from("HOLDFAST_WALK", kSanitized ? 500 : 3000);
  Mixed mixed(server, GetParam(), seed);
  mixed.walk(steps);
  EXPECT_EQ(mixed.problem(), "") << "HOLDFAST_SEED=" << seed;
  EXPECT_GT(mixed.ours(), 0) << "it shows nothing if they never get it";
  EXPECT_GT(mixed.javas(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RedissonAndOurs, testing::Values(Kind::mutex, Kind::shared_mutex));

struct Mistake {
  Kind kind;
  Edit edit;
};

TEST(RedissonAndOurs, MistakesAreFound) {
  RedisServer server;
  for (const Mistake& mistake : {
           Mistake{Kind::mutex,
                   {"redis.call('EXISTS', name, lock, holds, line, queue) == 0",
                    "redis.call('EXISTS', lock, holds, line, queue) == 0"}},
           Mistake{
               Kind::mutex,
               {"if foreign and (foreign.writer or ask.form == EXCLUSIVE) then", "if false then"}},
           Mistake{Kind::shared_mutex,
                   {"(foreign.writer or ask.form == EXCLUSIVE)", "foreign.writer"}},
           Mistake{Kind::shared_mutex,
                   {"== holds + 1 and all_are_ours() then", "== holds + 1 then"}},
           Mistake{Kind::shared_mutex, {"redis.call('SET', reader_key(owner, 1), '1')", ""}},
           Mistake{Kind::shared_mutex, {"redis.call('HSET', N, 'mode', 'write')", ""}},
           Mistake{Kind::shared_mutex,
                   {"if holds == 0 and not foreign then\n    redis.call('DEL', N)",
                    "if holds == 0 then\n    redis.call('DEL', N)"}},
       }) {
    std::string problem;
    for (unsigned seed = 1; seed < 10 && problem.empty(); ++seed) {
      server.must({"FLUSHALL"});
      Mixed mixed(server, mistake.kind, seed, {mistake.edit});
      mixed.walk(1000);
      problem = mixed.problem();
    }
    EXPECT_NE(problem, "") << mistake.edit.what;
  }
}

}  // namespace
}  // namespace holdfast::test
