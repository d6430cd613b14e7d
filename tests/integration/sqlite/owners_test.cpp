// F136: who is who does not depend on what anybody calls itself.
#include <set>

#include "sqlite_test.hpp"
#include "support/forked_child.hpp"
#include "support/shared_page.hpp"

namespace holdfast::test {
namespace {

constexpr std::size_t kChildren = 4;

struct TheirOwners {
  char owner[kChildren][128];
};

std::string owner_of(const Client& client, const std::string& lock) {
  const auto seen = client.inspect(lock);
  return seen && seen->size() == 1 ? seen->front().holders.at(0).record.owner : "";
}

using SqliteOwners = SqliteTest;

TEST_F(SqliteOwners, AreToldApartAlsoInForkedChildren_F136) {
  HOLDFAST_NEEDS_THREADS_IN_A_CHILD();
  const ClientOptions same{.program = "the same"};
  std::vector<Client> clients;
  std::vector<Hold> holds;
  std::set<std::string> owners;
  for (int i = 0; i < 8; ++i) {
    const std::string lock = "lock" + std::to_string(i);
    clients.push_back(open(same));
    holds.push_back(clients.back().mutex(lock).acquire().value());
    owners.insert(owner_of(clients.back(), lock));
  }
  EXPECT_EQ(owners.size(), clients.size());

  // All of them begin to count their claims at one, and their children inherit whatever could make
  // random numbers repeat.
  const TempFolder aside;
  const SharedPage<TheirOwners> told(aside / "told", SharedPage<TheirOwners>::Make{});
  for (std::size_t i = 0; i < kChildren; ++i) {
    EXPECT_TRUE(holds_in_child([&] {
      const Client anew = open(same);
      Hold own = anew.mutex("of a child").acquire({.wait = kSoon}).value();
      owner_of(anew, "of a child").copy(told->owner[i], sizeof told->owner[i] - 1);
      const bool busy = anew.mutex("lock0").try_acquire().error() == Errc::busy;
      return busy && own.release().has_value();
    }));
    owners.insert(told->owner[i]);
  }
  EXPECT_EQ(owners.size(), clients.size() + kChildren);
  EXPECT_FALSE(owners.contains(""));
  for (const Hold& hold : holds) EXPECT_TRUE(hold.verify()) << "nobody else released it";
}

}  // namespace
}  // namespace holdfast::test
