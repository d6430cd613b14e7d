// The scripts do what src/rules says: random questions to both, and every answer, every wake and all that can be
// seen of the lock compared. HOLDFAST_SEED repeats a run, HOLDFAST_WALK makes it longer.
#include "integration/redis/random_walk.hpp"
#include "support/effort.hpp"

#include "gtest/gtest.h"

namespace holdfast::test {
namespace {

using store::redis::Settings;

constexpr Settings kAlone{.interop = false};
constexpr Settings kWithRedisson{};

int steps() { return times_from("HOLDFAST_WALK", kSanitized ? 500 : 3000); }

class Twin : public testing::TestWithParam<Walk> {};

TEST_P(Twin, TheScriptsDoWhatTheRulesSay) {
  RedisServer server;
  for (const Settings& settings : {kAlone, kWithRedisson}) {
    const unsigned seed = chosen_seed();
    Twins twins(server, settings);
    walk(twins, GetParam(), seed, steps());
    EXPECT_FALSE(twins.difference()) << "HOLDFAST_SEED=" << seed << "\n" << *twins.difference();
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, Twin,
                         testing::Values(Walk::mutex, Walk::shared_mutex, Walk::semaphore,
                                         Walk::mixed));

// A semaphore of which all has lapsed in this millisecond, but whose keys are still there, had its old size.
TEST(Twin, ASizeLapsesWithTheLastHold) {
  RedisServer server;
  for (const unsigned seed : {1002U, 1004U}) {
    Twins twins(server, kWithRedisson);
    walk(twins, Walk::semaphore, seed, 1000);
    EXPECT_FALSE(twins.difference()) << "seed " << seed << "\n" << *twins.difference();
  }
}

struct Mistake {
  const char* name;
  Walk where;
  Edit edit;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class TwinBites : public testing::TestWithParam<Mistake> {};

// Small mistakes, of the sort one makes.
const Mistake kMistakes[] = {
    {"a_lease_that_ends_now_still_counts",
     Walk::mutex,
     {"'ZRANGEBYSCORE', HOLDS, '-inf', now,", "'ZRANGEBYSCORE', HOLDS, '-inf', now - 1,"}},
    {"an_offer_lasts_a_whole_lease",
     Walk::mutex,
     {"now + ask.confirm)", "now + 10 * ask.confirm)"}},
    {"a_stranger_overtakes_the_line",
     Walk::semaphore,
     {"local is_next = ask.old ~= '' or not head or head == owner", "local is_next = true"}},
    {"whoever_asks_again_goes_to_the_end", Walk::mutex, {"if not place then", "if true then"}},
    {"a_confirmed_hold_stays_offered",
     Walk::mutex,
     {"hold.offered, hold.old, hold.old_fence = 0,",
      "hold.offered, hold.old, hold.old_fence = 1,"}},
    {"spares_are_given_twice",
     Walk::mutex,
     {"digits(fence + spare))\n  if not", "digits(fence))\n  if not"}},
    {"any_fence_will_do_for_a_plain_hold",
     Walk::mutex,
     {"return hold[1] == fence and hold[6]", "return hold[6]"}},
    {"a_plain_hold_never_lapses", Walk::mutex, {"hold[7] == 0 and ends > now", "hold[7] == 0"}},
    {"a_plain_hold_is_renewed_although_it_was_revoked",
     Walk::mutex,
     {"hold[6] == 0 and hold[7] == 0 and", "hold[6] == 0 and"}},
    {"a_plain_hold_is_given_back_past_the_line",
     Walk::mutex,
     {"or redis.call('EXISTS', line, queue) > 0 then", "then"}},
    {"a_mutex_is_granted_past_the_line",
     Walk::mutex,
     {"redis.call('EXISTS', name, lock, holds, line, queue) == 0",
      "redis.call('EXISTS', name, holds) == 0"}},
    {"spares_are_given_twice_quickly",
     Walk::mutex,
     {"digits(fence + spare)) -- first", "digits(fence)) -- first"}},
    {"any_fence_will_do", Walk::mutex, {"hold and hold.fence == fence and hold or nil", "hold"}},
    {"a_revoked_hold_is_renewed",
     Walk::mutex,
     {"if hold and hold.revoked == 1 then", "if false then"}},
    {"the_second_is_not_told_when_to_look",
     Walk::mutex,
     {"if slowest > 0 and head then", "if false then"}},
    {"a_revoked_holder_lines_up",
     Walk::mutex,
     {"if wants_line and not own then", "if wants_line then"}},
    {"a_hold_that_lapsed_stays_in_the_hash",
     Walk::mutex,
     {"redis.call('HDEL', N, field_of(owner, hold))", "redis.call('HLEN', N)"}},
    {"an_upgrade_waits_at_the_end",
     Walk::shared_mutex,
     {"local end_of_line = ask.old ~= '' and 'ZRANGE' or 'ZREVRANGE'",
      "local end_of_line = 'ZREVRANGE'; ask = setmetatable({ old = '' }, { __index = ask })"}},
    {"two_may_be_upgraded",
     Walk::shared_mutex,
     {"other_upgraders > 0 then", "other_upgraders > 1 then"}},
    {"the_old_hold_stays",
     Walk::shared_mutex,
     {"if old ~= '' and find_exactly(old, old_fence) then end_hold(old) end", ""}},
    {"readers_overtake_a_writer_that_waits",
     Walk::shared_mutex,
     {"local is_next = ask.old ~= '' or",
      "local is_next = ask.old ~= '' or ask.form == READER or"}},
    {"permits_are_not_counted",
     Walk::semaphore,
     {"taken = taken + by * hold.take", "taken = taken + by"}},
    {"slots_do_not_come_back",
     Walk::semaphore,
     {"do redis.call('SETBIT', SLOTS, slot, 0) end\n  if hold.form",
      "do local _ = slot end\n  if hold.form"}},
    {"a_new_size_serves_nobody",
     Walk::semaphore,
     {"    drop_hopeless()\n    pass_on()\n", "    close()\n"}},
    {"a_size_outlives_its_last_hold", Walk::semaphore, {"of = nil -- what", "-- what"}},
    {"kinds_are_mixed", Walk::mixed, {"if kind ~= asked_kind then return", "if false then return"}},
};

TEST_P(TwinBites, AMistakeIsFound) {
  RedisServer server;
  for (unsigned seed = 1; seed < 20; ++seed) {
    Twins twins(server, kWithRedisson, {GetParam().edit});
    walk(twins, GetParam().where, seed, 3000);
    if (twins.difference()) return;
  }
  FAIL() << GetParam().name << " was not noticed";
}

INSTANTIATE_TEST_SUITE_P(Planted, TwinBites, testing::ValuesIn(kMistakes),
                         [](const auto& mistake) { return std::string(mistake.param.name); });

const Edit kCellMistakes[] = {
    {"if number < last[1] then", "if false then"},
    {"if number > last[1] then", "if number >= last[1] then"},
    {"if sum and less(sum, floor) then", "if sum and tonumber(sum) < tonumber(floor) then"},
    {"sum = less(delta, '0') and floor or nil", "sum = nil"},
    {"if version ~= tonumber(ARGV[8]) then", "if false then"},
    {"redis.call('HSET', CELL, 'value', value)", "local _ = value"},
};

TEST(Twin, MistakesInCellsAreFound) {
  RedisServer server;
  for (const Edit& mistake : kCellMistakes) {
    Twins twins(server, kAlone, {mistake});
    for (unsigned seed = 1; seed < 20 && !twins.difference(); ++seed) walk_cells(twins, seed, 1000);
    EXPECT_TRUE(twins.difference()) << mistake.what;
  }
}

TEST(Twin, TheScriptsKeepCellsAsTheRulesSay) {
  RedisServer server;
  const unsigned seed = chosen_seed();
  Twins twins(server, kAlone);
  walk_cells(twins, seed, steps());
  EXPECT_FALSE(twins.difference()) << "HOLDFAST_SEED=" << seed << "\n" << *twins.difference();
}

}  // namespace
}  // namespace holdfast::test
