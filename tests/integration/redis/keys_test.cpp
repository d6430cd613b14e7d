#include "store/redis/keys.hpp"

#include <random>
#include <set>

#include "gtest/gtest.h"

namespace holdfast::store::redis {
namespace {

LockName named(const std::string& bytes) { return *LockName::checked(bytes); }

// Short names of few letters: every way in which braces can stand.
std::vector<std::string> awkward_names() {
  std::vector<std::string> names{""};
  for (std::size_t i = 0; i < names.size() && names[i].size() < 5; ++i) {
    const std::string before = names[i];
    for (const char letter : {'a', '{', '}', ':'}) names.push_back(before + letter);
  }
  names.erase(names.begin());
  return names;
}

TEST(RedisKeys, APlainNameStaysAsItIs) {
  EXPECT_EQ(lock_key(named("orders")), "holdfast_lock:{orders}");
  EXPECT_EQ(own_key("line", named("a:b c")), "holdfast_line:{a:b c}");
  EXPECT_EQ(cell_key({CellKind::size, named("pool")}), "holdfast_cell:size:{pool}");
  EXPECT_EQ(redisson_channel(Kind::mutex, named("L")), "redisson_lock__channel:{L}");
  EXPECT_EQ(redisson_channel(Kind::shared_mutex, named("app:{t1}:L")),
            "redisson_rwlock:app:{t1}:L");
}

// Known from CLUSTER KEYSLOT.
TEST(RedisKeys, SlotsAreThoseOfRedis) {
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("{foo}bar"), 12182);
  EXPECT_EQ(slot_of("x{foo}{bar}"), 12182);
  EXPECT_EQ(slot_of("123456789"), 12739);
  EXPECT_EQ(slot_of("foo{}bar"), slot_of("foo{}bar"));
  EXPECT_NE(slot_of("foo{}bar"), slot_of(""));
}

TEST(RedisKeys, OursLieInTheSlotOfTheLockAndNoTwoAreTheSame_F055) {
  std::set<std::string> keys;
  for (const std::string& name : awkward_names()) {
    const std::string key = lock_key(named(name));
    EXPECT_EQ(slot_of(key), slot_of(name)) << name;
    EXPECT_TRUE(keys.insert(key).second) << name;
    const auto back = name_in(key);
    ASSERT_TRUE(back) << key;
    EXPECT_EQ(back->bytes(), name);
  }
}

TEST(RedisKeys, ThereIsATagForEverySlot_F055) {
  std::set<std::uint16_t> slots;
  for (int i = 0; slots.size() < 16384; ++i) {
    const std::string name = "}" + std::to_string(i);
    slots.insert(slot_of(name));
    ASSERT_EQ(slot_of(lock_key(named(name))), slot_of(name)) << name;
  }
}

TEST(RedisKeys, NamesOfAnyBytesComeBack) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string name(1 + random() % 40, '\0');
    for (char& byte : name) byte = static_cast<char>(random());
    const std::string key = lock_key(named(name));
    EXPECT_EQ(slot_of(key), slot_of(name));
    ASSERT_TRUE(name_in(key));
    EXPECT_EQ(name_in(key)->bytes(), name);
  }
}

TEST(RedisKeys, WhatIsNoLockKeyIsNone) {
  for (const std::string_view key :
       {"", "holdfast_lock:", "holdfast_lock:{", "holdfast_lock:{}", "holdfast_lock:x}",
        "holdfast_lock:{a}:b", "holdfast_lock:{a}b", "holdfast_lock:{a}:", "holdfast_line:{a}"}) {
    EXPECT_FALSE(name_in(key)) << key;
  }
}

TEST(RedisKeys, OwnersLookLikeRedissons) {
  const OwnerId owner{{0x51db3dfa0c014cd1, 0x997620c79a3e7d2c}, 17};
  EXPECT_EQ(owner_text(owner), "51db3dfa-0c01-4cd1-9976-20c79a3e7d2c:17");
  EXPECT_EQ(owner_in(owner_text(owner)), owner);
  EXPECT_EQ(wake_channel(owner.client), "holdfast_wake:51db3dfa-0c01-4cd1-9976-20c79a3e7d2c");
  for (const std::string_view text :
       {"", "51db3dfa-0c01-4cd1-9976-20c79a3e7d2c", "51db3dfa-0c01-4cd1-9976-20c79a3e7d2c:",
        "51db3dfa-0c01-4cd1-9976-20c79a3e7d2c:x", "51db3dfa-0c01-4cd1-9976-20c79a3e7d2c:-1",
        "51db3dfa0c01-4cd1-9976-20c79a3e7d2c-:1", "g1db3dfa-0c01-4cd1-9976-20c79a3e7d2c:1",
        "51db3dfa-0c01-4cd1-9976-20c79a3e7d2c:99999999999999999999"}) {
    EXPECT_FALSE(owner_in(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::store::redis
