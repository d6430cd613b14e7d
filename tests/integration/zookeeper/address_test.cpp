#include "store/zookeeper/address.hpp"

#include <cstdlib>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "support/temp_folder.hpp"

namespace holdfast::store::zookeeper {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using transport::Endpoint;

Result<Address> parsed(const std::string& url) { return Url::parse(url).and_then(parse_address); }

TEST(ZooKeeperAddress, HasDefaults) {
  const auto it = parsed("zk://");
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_EQ(to_string(*it), "127.0.0.1:2181");
  EXPECT_EQ(it->session, 20s);
  EXPECT_EQ(it->base, "");
  EXPECT_FALSE(it->tls);
  EXPECT_FALSE(it->native_fences);
  EXPECT_FALSE(it->names_are_paths);
  EXPECT_EQ(to_string(*parsed("zks://h")), "h:2281");
}

TEST(ZooKeeperAddress, SaysEverythingInItsPlace) {
  const auto it = parsed(
      "zks://me:a%40b@zk1,zk2:2182,[::1]:3000/apps/my%24locks/"
      "?session=1500ms&fence=native&names=path&ca=/ca.pem&cert=/c&key=/k&server_name=x&verify=off");
  ASSERT_TRUE(it) << it.error().text();
  EXPECT_THAT(it->endpoints,
              ElementsAre(Endpoint{"zk1", 2281}, Endpoint{"zk2", 2182}, Endpoint{"::1", 3000}));
  EXPECT_EQ(to_string(*it), "zk1:2281,zk2:2182,[::1]:3000");
  EXPECT_EQ(it->base, "/apps/my$locks");
  EXPECT_EQ(it->user, "me");
  EXPECT_EQ(it->password, "a@b");
  EXPECT_EQ(it->session, 1500ms);
  EXPECT_TRUE(it->native_fences);
  EXPECT_TRUE(it->names_are_paths);
  EXPECT_EQ(it->tls_settings.ca_file, "/ca.pem");
  EXPECT_EQ(it->tls_settings.server_name, "x");
  EXPECT_FALSE(it->tls_settings.verify);
}

TEST(ZooKeeperAddress, TakesThePasswordFromElsewhere_F137) {
  const test::TempFolder folder;
  const std::string file = folder.path() + "/password";
  std::ofstream(file) << "from file\nmore\n";
  EXPECT_EQ(parsed("zk://u@h?password_file=" + file)->password, "from file");
  ::setenv("HOLDFAST_TEST_PASSWORD", "from environment", 1);
  EXPECT_EQ(parsed("zk://u@h?password_env=HOLDFAST_TEST_PASSWORD")->password, "from environment");
  ::unsetenv("HOLDFAST_TEST_PASSWORD");
  EXPECT_EQ(parsed("zk://u@h?password_env=HOLDFAST_TEST_PASSWORD").error(), Errc::invalid_argument);
  EXPECT_EQ(parsed("zk://u@h?password_file=/nowhere/at/all").error(), Errc::permission);
}

TEST(ZooKeeperAddress, SaysWhatIsWrongAndNeverThePassword_F137_F138) {
  for (const char* url : {"zk:host",
                          "zk://u:secret@h/a//b",
                          "zk://u:secret@h//",
                          "zk://u:secret@h/a/../b",
                          "zk://u:secret@h/.",
                          "zk://u:secret@h/%C3%A4",
                          "zk://u:secret@h/a%20b",
                          "zk://u:secret@h/zookeeper",
                          "zk://u:secret@h/zookeeper/quota",
                          "zk://u:secret@h?what=1",
                          "zk://u:secret@h?session=20",
                          "zk://u:secret@h?session=",
                          "zk://u:secret@h?session=99ms",
                          "zk://u:secret@h?session=61m",
                          "zk://u:secret@h?session=-1s",
                          "zk://u:secret@h?session=99999999999s",
                          "zk://u:secret@h?session=307445735m",
                          "zk://u:secret@h?fence=on",
                          "zk://u:secret@h?names=deep",
                          "zk://u:secret@h?ca=/x",
                          "zks://u:secret@h?cert=/x",
                          "zk://:secret@h",
                          "zk://a%3Ab:secret@h",
                          "zk://u:secret@h,",
                          "zk://u:pa?secret=x@h",
                          "zk://u:pa?x=secret@h"}) {
    const auto it = parsed(url);
    ASSERT_FALSE(it) << url;
    EXPECT_EQ(it.error(), Errc::invalid_argument) << url;
    EXPECT_THAT(it.error().text(), Not(HasSubstr("secret"))) << url;
  }
}

}  // namespace
}  // namespace holdfast::store::zookeeper
