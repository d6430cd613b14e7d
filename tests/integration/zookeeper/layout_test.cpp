#include "store/zookeeper/layout.hpp"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::store::zookeeper {
namespace {

using namespace std::string_literals;

LockName name(std::string_view bytes) { return LockName::checked(bytes).value(); }

const OwnerId kOwner{{0x0123456789abcdef, 0xfedcba9876543210}, 0};

std::string path(const std::string& bytes, bool names_are_paths = false) {
  return Layout("/base", names_are_paths).lock(name(bytes));
}

TEST(ZookeeperLayout, APlainNameStandsForItself) {
  for (const char* plain : {"lock", "nightly.invoices", "a b", "Team A", "x-1_2", "{a}", "a:b", "*",
                            "\"q\"", "caf\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", "..."}) {
    EXPECT_EQ(path(plain), "/base/"s + plain);
  }
}

TEST(ZookeeperLayout, WhatAPathCannotHoldIsCoded) {
  EXPECT_EQ(path("a/b"), "/base/a%2Fb");
  EXPECT_EQ(path("100%"), "/base/100%25");
  EXPECT_EQ(path("."), "/base/%2E");
  EXPECT_EQ(path(".."), "/base/%2E.");
  EXPECT_EQ(path("a\nb"), "/base/a%0Ab");
  EXPECT_EQ(path("a\0b"s), "/base/a%00b");
  EXPECT_EQ(path("\x7f"), "/base/%7F");
  EXPECT_EQ(path("\xff\xfe"), "/base/%FF%FE") << "no UTF-8";
  EXPECT_EQ(path("\xc0\xaf"), "/base/%C0%AF") << "a / in two bytes";
  EXPECT_EQ(path("\xe0\x80\xaf"), "/base/%E0%80%AF") << "and in three";
  EXPECT_EQ(path("\xc2\x85"), "/base/%C2%85") << "a control character";
  EXPECT_EQ(path("\xee\x80\x80"), "/base/%EE%80%80") << "private use";
  EXPECT_EQ(path("\xef\xbf\xbd"), "/base/%EF%BF%BD") << "the sign for what is not UTF-8";
  EXPECT_EQ(path("\xf0\x9f\x94\x92"), "/base/%F0%9F%94%92") << "two halves for Java";
  EXPECT_EQ(path("\xed\xa0\x80"), "/base/%ED%A0%80") << "half of one";
}

TEST(ZookeeperLayout, TheServersOwnNodeIsNoLock) {
  EXPECT_EQ(Layout("").lock(name("zookeeper")), "/%7Aookeeper");
  EXPECT_EQ(Layout("", true).lock(name("zookeeper/quota")), "/%7Aookeeper/quota");
  EXPECT_EQ(Layout("/base").lock(name("zookeeper")), "/base/zookeeper");
  EXPECT_EQ(Layout("").name_at("/%7Aookeeper"), name("zookeeper"));
  EXPECT_FALSE(Layout("").name_at("/zookeeper"));
}

TEST(ZookeeperLayout, NamesThatArePathsKeepTheirSlashes) {
  EXPECT_EQ(path("a/b", true), "/base/a/b");
  EXPECT_EQ(path("a//b", true), "/base/a/%_/b");
  EXPECT_EQ(path("/a", true), "/base/%_/a");
  EXPECT_EQ(path("a/", true), "/base/a/%_");
  EXPECT_EQ(path("a/../b", true), "/base/a/%2E./b");
}

TEST(ZookeeperLayout, NoPartOfANameLooksLikeANodeOfALock) {
  const std::string node = "_c_01234567-89ab-cdef-fedc-ba9876543210-lock-0000000001";
  EXPECT_EQ(path("a/" + node, true), "/base/a/" + node.substr(0, node.size() - 1) + "%31");
  EXPECT_EQ(path("a/my-lock-x", true), "/base/a/my-lock-x") << "it has no number";
}

TEST(ZookeeperLayout, EveryNameComesBackFromItsPath) {
  std::vector<std::string> names{
      "a",    "A",         "a/b",       "a%2Fb",
      "%",    "%_",        ".",         "..",
      "../a", "/",         "//",        "/a/",
      "a\0"s, "\0"s,       "é",         "\xff",
      "%2E",  "zookeeper", "%holdfast", "_c_01234567-89ab-cdef-fedc-ba9876543210-lock-0000000001"};
  for (int byte = 0; byte < 256; ++byte) {
    names.push_back(std::string(1, static_cast<char>(byte)));
    names.push_back("\xc3" + std::string(1, static_cast<char>(byte)));
    names.push_back("\xe2\x82" + std::string(1, static_cast<char>(byte)));
  }
  names.emplace_back(LockName::kMaxBytes, '/');
  names.emplace_back(LockName::kMaxBytes, '\xff');
  for (const bool names_are_paths : {false, true}) {
    for (const char* base : {"", "/base", "/a/b"}) {
      const Layout layout(base, names_are_paths);
      std::map<std::string, std::string> by_path;
      for (const std::string& each : names) {
        const std::string at = layout.lock(name(each));
        EXPECT_EQ(layout.name_at(at), name(each)) << printable(each);
        const auto [other, is_new] = by_path.emplace(at, each);
        EXPECT_EQ(other->second, each) << "two names, one path: " << at;
      }
    }
  }
}

TEST(ZookeeperLayout, WhatWeWouldNotHaveWrittenIsNoLock) {
  const Layout layout("/base");
  for (const char* other : {"/base", "/base/", "/bases/a", "/base/a/b", "/base/%2f", "/base/%41",
                            "/base/%holdfast", "/base/%", "/base/%2", "/base/a%", "/base/."}) {
    EXPECT_FALSE(layout.name_at(other)) << other;
  }
}

TEST(ZookeeperLayout, ACellLiesWhereNoLockCan) {
  const Layout layout("/base");
  EXPECT_EQ(layout.cell({CellKind::value, name("a/b")}), "/base/%holdfast/value/a%2Fb");
  EXPECT_EQ(layout.cell({CellKind::size, name("pool")}), "/base/%holdfast/size/pool");
  EXPECT_FALSE(layout.name_at("/base/%holdfast"));
  EXPECT_FALSE(Layout("/base", true).name_at("/base/%holdfast/value/a"));
}

TEST(ZookeeperLayout, PathsHaveParents) {
  EXPECT_EQ(path_and_parents("/a/b/c"), (std::vector<std::string>{"/a", "/a/b", "/a/b/c"}));
  EXPECT_EQ(path_and_parents("/"), std::vector<std::string>{});
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(last_part_of("/a/b"), "b");
}

TEST(ZookeeperLayout, AnOwnerHasAUuidOfItsOwn) {
  EXPECT_EQ(uuid_of(kOwner), "01234567-89ab-cdef-fedc-ba9876543210");
  EXPECT_EQ(mark_of(kOwner), "_c_01234567-89ab-cdef-fedc-ba9876543210-");
  std::set<std::string> all;
  for (std::uint64_t client = 0; client < 50; ++client) {
    for (std::uint64_t claim = 0; claim < 50; ++claim) all.insert(uuid_of({{7, client}, claim}));
  }
  EXPECT_EQ(all.size(), 2500U);
}

TEST(ZookeeperLayout, NodesAreCalledAsCuratorCallsThem) {
  ClaimKey claim;
  claim.owner = kOwner;
  const std::string mark = mark_of(kOwner);
  EXPECT_EQ(line_node(claim), mark + "lock-");
  claim.kind = Kind::shared_mutex;
  EXPECT_EQ(line_node(claim), mark + "__WRIT__");
  claim.shape = Shape::shared();
  EXPECT_EQ(line_node(claim), mark + "__READ__");
  claim.kind = Kind::semaphore;
  claim.shape = Shape::permits(2, 3);
  EXPECT_EQ(line_node(claim), mark + "of-3-lock-");
  EXPECT_EQ(lease_node(kOwner, 3, 1), mark + "of-3-slot-1-lease-");
  EXPECT_EQ(reader_in_place_of("_c_whoever-__WRIT__0000000042", kOwner),
            mark + "__READ__0000000042");
}

TEST(ZookeeperLayout, NodesOfOthersAreRead) {
  const std::string uuid = "3209f814-533a-4ee5-a79b-948e52e4650a";
  const auto is = [](std::string_view node, Tag tag, std::string_view key) {
    const NodeName parsed = parse_node(node);
    EXPECT_EQ(parsed.tag, tag) << node;
    EXPECT_EQ(parsed.key, key) << node;
  };
  is("_c_" + uuid + "-lock-0000000001", Tag::lock, "0000000001");
  is("lock-0000000001", Tag::lock, "0000000001");
  is("_c_" + uuid + "-lock--2147483648", Tag::lock, "-2147483648");
  is("_c_" + uuid + "-lock--000000005", Tag::lock, "-000000005");
  is("_c_" + uuid + "-lock-000000005", Tag::none, "");
  is("_c_" + uuid + "-lock--00000005", Tag::none, "");
  is("_c_" + uuid + "-__READ__0000000007", Tag::read, "0000000007");
  is("_c_" + uuid + "-__WRIT__0000000007", Tag::write, "0000000007");
  is("_c_" + uuid + "-lease-0000000007", Tag::lease, "0000000007");
  is("deploy-lock-x", Tag::none, "");
  is("locks", Tag::none, "");
  is("", Tag::none, "");
  EXPECT_EQ(parse_node("_c_" + uuid + "-lock-0000000001").uuid, uuid);
  EXPECT_EQ(parse_node("lock-0000000001").uuid, "");
  const NodeName lease = parse_node("_c_" + uuid + "-of-30-slot-12-lease-0000000007");
  EXPECT_EQ(lease.of, 30U);
  EXPECT_EQ(lease.slot, 12U);
  EXPECT_FALSE(parse_node("_c_" + uuid + "-lease-0000000007").of);
}

}  // namespace
}  // namespace holdfast::store::zookeeper
