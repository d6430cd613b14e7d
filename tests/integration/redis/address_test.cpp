#include "store/redis/address.hpp"

#include <cstdlib>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temp_folder.hpp"

namespace holdfast::store::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<Address> parsed(const std::string& url) { return Url::parse(url).and_then(parse_address); }

TEST(RedisAddress, HasDefaults) {
  const auto it = parsed("redis://");
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(to_string(it->server), "127.0.0.1:6379");
  EXPECT_FALSE(it->server.tls);
  EXPECT_EQ(it->database, 0u);
  EXPECT_TRUE(it->interop);
}

TEST(RedisAddress, SaysEverythingInItsPlace) {
  const auto it =
      parsed("rediss://me:secret@db:7000/3?interop=off&ca=/ca.pem&cert=/c&key=/k&server_name=x");
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_TRUE(it->server.tls);
  EXPECT_EQ(it->user, "me");
  EXPECT_EQ(it->password, "secret");
  EXPECT_EQ(it->server.endpoint, (transport::Endpoint{"db", 7000}));
  EXPECT_EQ(it->database, 3u);
  EXPECT_FALSE(it->interop);
  EXPECT_EQ(it->server.tls_settings.ca_file, "/ca.pem");
  EXPECT_EQ(it->server.tls_settings.server_name, "x");
  EXPECT_TRUE(it->server.tls_settings.verify);
  EXPECT_EQ(to_string(it->server), "db:7000");
}

TEST(RedisAddress, MayBeASocket) {
  const auto it = parsed("redis+unix:///run/my%20redis.sock?database=2");
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(it->server.socket_path, "/run/my redis.sock");
  EXPECT_EQ(it->database, 2u);
}

TEST(RedisAddress, TakesThePasswordFromElsewhere_F137) {
  const test::TempFolder folder;
  const std::string file = folder.path() + "/password";
  std::ofstream(file) << "from file\nmore\n";
  EXPECT_EQ(parsed("redis://h?password_file=" + file)->password, "from file");
  ::setenv("HOLDFAST_TEST_PASSWORD", "from environment", 1);
  EXPECT_EQ(parsed("redis://h?password_env=HOLDFAST_TEST_PASSWORD")->password, "from environment");
  ::unsetenv("HOLDFAST_TEST_PASSWORD");
  EXPECT_EQ(parsed("redis://h?password_env=HOLDFAST_TEST_PASSWORD").error(),
            Errc::invalid_argument);
  EXPECT_EQ(parsed("redis://h?password_file=/nowhere/at/all").error(), Errc::permission);
}

TEST(RedisAddress, APasswordFromElsewhereIsNotEmpty_F137) {
  const test::TempFolder folder;
  const std::string file = folder.path() + "/password";
  for (const char* content : {"", "\n", "\r\n", "\nsecret\n"}) {
    std::ofstream(file) << content;
    const auto it = parsed("redis://u@h?password_file=" + file);
    ASSERT_FALSE(it);
    EXPECT_EQ(it.error(), Errc::invalid_argument);
    EXPECT_THAT(it.error().text(), Not(HasSubstr("secret")));
  }
  EXPECT_EQ(parsed("redis://h?password_file=" + folder.path()).error(), Errc::permission);
  ::setenv("HOLDFAST_TEST_PASSWORD", "", 1);
  EXPECT_EQ(parsed("redis://h?password_env=HOLDFAST_TEST_PASSWORD").error(),
            Errc::invalid_argument);
  ::unsetenv("HOLDFAST_TEST_PASSWORD");
}

TEST(RedisAddress, SaysWhatIsWrongAndNeverThePassword_F137_F138) {
  for (const char* url :
       {"redis:host", "redis://u:secret@h/x", "redis://u:secret@h/-1", "redis://u:secret@h?what=1",
        "redis://u:secret@h?interop=maybe", "redis://u:secret@h?ca=/x",
        "rediss://u:secret@h?cert=/x", "redis+unix://", "redis+unix://u:secret@h/x",
        "redis://u:secret@a,b", "redis://u:secret@h?database=1e3", "redis://u:pa?secret=x@h",
        "redis://u:pa?x=secret@h"}) {
    const auto it = parsed(url);
    ASSERT_FALSE(it) << url;
    EXPECT_EQ(it.error(), Errc::invalid_argument) << url;
    EXPECT_THAT(it.error().text(), Not(HasSubstr("secret"))) << url;
  }
}

}  // namespace
}  // namespace holdfast::store::redis
