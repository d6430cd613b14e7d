#include "api/store_id.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace holdfast::detail {
namespace {

std::string id(std::string_view url) { return store_id(store::Url::parse(url).value()); }

TEST(StoreId, IsTheUrlOfAPlainStore) {
  EXPECT_EQ(id("memory:"), "memory:");
  EXPECT_EQ(id("memory:A@b"), "memory:A@b");
  EXPECT_EQ(id("sqlite:/var/lib/Locks.db"), "sqlite:/var/lib/Locks.db");
  EXPECT_NE(id("memory:a"), id("memory:b"));
}

TEST(StoreId, DoesNotDependOnWhoComesInAndHow) {
  const std::string server = id("redis://locks.example:6379/0");
  EXPECT_EQ(server, "redis://locks.example:6379/0");
  EXPECT_EQ(id("redis://user:secret@locks.example:6379/0"), server);
  EXPECT_EQ(id("redis://user:p@ss@LOCKS.example:6379/0?wait=2"), server);
  EXPECT_EQ(id("sqlite:/locks.db?mode=0660"), id("sqlite:/locks.db"));
}

TEST(StoreId, IsTheSameForAnEmptyAuthority) {
  EXPECT_EQ(id("sqlite:///locks.db"), id("sqlite:/locks.db"));
  EXPECT_EQ(id("redis://"), "redis:");
}

TEST(StoreId, TellsServersAndPathsApart) {
  EXPECT_NE(id("redis://a:1/0"), id("redis://a:2/0"));
  EXPECT_NE(id("redis://a:1/0"), id("redis://a:1/1"));
  EXPECT_NE(id("sqlite:/Locks.db"), id("sqlite:/locks.db"));
  EXPECT_NE(id("zookeeper://a,b/x@y"), id("zookeeper://a,b/y"));
}

}  // namespace
}  // namespace holdfast::detail
