// F131, F132: what the folder of a lock is called.
#include <algorithm>
#include <cctype>
#include <random>
#include <set>

#include "directory_test.hpp"
#include "store/directory/folder_name.hpp"

namespace holdfast::test {
namespace {

using store::LockName;
using store::directory::name_from;
using store::directory::Pieces;
using store::directory::pieces_of;

Pieces pieces(const std::string& name) { return pieces_of(LockName::checked(name).value()); }

void expect_good(const std::string& name) {
  SCOPED_TRACE(store::printable(name));
  const Pieces found = pieces(name);
  for (const std::string& piece : found) {
    EXPECT_FALSE(piece.empty());
    EXPECT_LE(piece.size(), 255U);
    EXPECT_NE(piece.front(), '.');
    EXPECT_NE(piece.back(), '.');
    EXPECT_TRUE(std::none_of(piece.begin(), piece.end(), [](unsigned char c) {
      return std::isupper(c) != 0 || c == '/' || c <= ' ' || c > '~';
    })) << piece;
  }
  const auto back = name_from(found);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->bytes(), name);
}

TEST(DirectoryNames, ThatArePlainStandForThemselves) {
  for (const char* name : {"a", "nightly-invoices", "app.db.lock", "x_1", "0"}) {
    EXPECT_EQ(pieces(name), Pieces{name});
  }
}

TEST(DirectoryNames, ThatAreNotAreEscaped) {
  EXPECT_EQ(pieces("Team A/deploy"), Pieces{"%54eam%20%41%2fdeploy"});
  EXPECT_EQ(pieces("."), Pieces{"%2e"});
  EXPECT_EQ(pieces(".."), Pieces{"%2e%2e"});
  EXPECT_EQ(pieces("a."), Pieces{"a%2e"});
  EXPECT_EQ(pieces("a+"), Pieces{"a%2b"});
}

TEST(DirectoryNames, OfAnyBytesAndLengthsComeBack_F131_F132) {
  for (const char byte : {'x', '.', '/', '\0', '\xff', 'X', '+', '%'}) {
    for (const std::size_t length : {1U, 2U, 66U, 67U, 199U, 200U, 201U, 400U, 401U, 512U}) {
      expect_good(std::string(length, byte));
    }
  }
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    std::string name(1 + random() % 512, '\0');
    const std::string some = "ab.A/+%\xff";
    for (char& c : name) {
      c = random() % 2 == 0 ? some[random() % some.size()] : static_cast<char>(random() % 256);
    }
    expect_good(name);
  }
}

// On a file system that does not tell capitals from small letters.
TEST(DirectoryNames, DifferAlsoWhereCaseDoesNot_F111) {
  std::set<Pieces> seen;
  for (const char* name : {"job", "Job", "jOB", "JOB", "%4aob", "%4Aob", "%6aob"}) {
    EXPECT_TRUE(seen.insert(pieces(name)).second) << name;
  }
}

TEST(DirectoryNames, OfOthersAreNotOurs) {
  for (const Pieces& foreign :
       {Pieces{"A"}, Pieces{".x"}, Pieces{"a."}, Pieces{"%61"}, Pieces{"%4A"}, Pieces{"%4"},
        Pieces{"a b"}, Pieces{"a+"}, Pieces{"a+", "b"}, Pieces{"\xc3\xa4"}, Pieces{"%"}}) {
    EXPECT_FALSE(name_from(foreign)) << foreign.front();
  }
}

using DirectoryLongNames = DirectoryTest;

TEST_F(DirectoryLongNames, AreLocksThatAreShownAndFreed) {
  const Client client = open(), other = open();
  const std::string names[] = {std::string(512, 'x'), std::string(511, 'x'), std::string(200, 'x'),
                               std::string(201, 'x'), std::string(512, '/')};
  std::vector<Hold> holds;
  for (const std::string& name : names) holds.push_back(client.mutex(name).try_acquire().value());
  std::set<std::string> shown;
  const auto locks = other.inspect().value();
  for (const auto& lock : locks) shown.insert(lock.name);
  EXPECT_EQ(shown, std::set<std::string>(std::begin(names), std::end(names)));
  for (Hold& hold : holds) EXPECT_TRUE(hold.release());
  EXPECT_TRUE(other.inspect()->empty());
}

}  // namespace
}  // namespace holdfast::test
