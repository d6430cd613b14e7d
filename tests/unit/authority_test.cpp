#include "transport/authority.hpp"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace holdfast::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Authority, HasUserHostsAndPath) {
  const auto it = parse_authority("//me:p%40ss@db1:7000,db2/the/path", 6379);
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(it->user, "me");
  EXPECT_EQ(it->password, "p@ss");
  EXPECT_THAT(it->endpoints, ElementsAre(Endpoint{"db1", 7000}, Endpoint{"db2", 6379}));
  EXPECT_EQ(it->path, "the/path");
}

TEST(Authority, MayBeAlmostNothing) {
  const auto it = parse_authority("///run/redis.sock", 6379);
  ASSERT_TRUE(it);
  EXPECT_TRUE(it->endpoints.empty());
  EXPECT_EQ(it->path, "run/redis.sock");
  EXPECT_TRUE(parse_authority("//", 1));
}

TEST(Authority, KnowsAddressesOfBothFamilies_F138) {
  const auto it = parse_authority("//[::1]:7000,[fe80::1%25eth0],10.0.0.1:1", 6379);
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(it->endpoints[0], (Endpoint{"::1", 7000}));
  EXPECT_EQ(it->endpoints[1].port, 6379);
  EXPECT_EQ(it->endpoints[2], (Endpoint{"10.0.0.1", 1}));
  EXPECT_EQ(to_string(it->endpoints[0]), "[::1]:7000");
  EXPECT_EQ(to_string(it->endpoints[2]), "10.0.0.1:1");
}

TEST(Authority, APasswordMayContainEverySign) {
  const auto it = parse_authority("//:a:b%2F%40@h", 1);
  ASSERT_TRUE(it);
  EXPECT_EQ(it->user, "");
  EXPECT_EQ(it->password, "a:b/@");
}

TEST(Authority, SaysWhatIsWrongAndNeverThePassword_F137_F138) {
  for (const char* rest :
       {"host", "/host", "//u:secret@h:0", "//u:secret@h:65536", "//u:secret@h:x", "//u:secret@h:",
        "//u:secret@h,", "//u:secret@,h", "//u:secret@[::1", "//u:secret@[::1]x", "//u:secret@::1",
        "//u:secret@h h", "//u:secret%@h", "//u:secret%00@h", "//u:secret@\"h\""}) {
    const auto it = parse_authority(rest, 6379);
    ASSERT_FALSE(it) << rest;
    EXPECT_EQ(it.error(), Errc::invalid_argument) << rest;
    EXPECT_THAT(it.error().text(), Not(HasSubstr("secret"))) << rest;
  }
}

}  // namespace
}  // namespace holdfast::transport
