#include <algorithm>
#include <set>

#include "conformance/fixtures/fixture_list.hpp"
#include "conformance/rule.hpp"

namespace holdfast::conformance {
namespace {

std::string table(const store::Capabilities& can) {
  const std::pair<const char*, bool> rows[] = {
      {"mutex_any", can.mutex_any}, {"mutex_fifo", can.mutex_fifo},   {"shared", can.shared},
      {"downgrade", can.downgrade}, {"upgradeable", can.upgradeable}, {"permits", can.permits},
      {"cells", can.cells},         {"hand_over", can.hand_over},     {"inspect", can.inspect}};
  std::string text;
  for (const auto& [name, yes] : rows) text += std::string(name) + (yes ? " yes\n" : " no\n");
  return text;
}

}  // namespace

// The expected table stands in the store's fixture: a capability that is gained or lost is a change
// for users and has to be made there as well.
TEST_P(StoreConformance, DeclaresTheCapabilitiesThatAreExpectedOfIt) {
  EXPECT_EQ(table(bench().capabilities()), table(bench().fixture().expected_capabilities()));
  EXPECT_EQ(bench().capabilities(), bench().fixture().expected_capabilities());
}

TEST_P(StoreConformance, IsCalledInItsFixtureAsInTheList) {
  EXPECT_EQ(bench().store_name(), GetParam());
}

TEST(StoreList, NamesExactlyTheStoresThatHaveAFixture) {
  const auto listed = stores_to_try();
  const auto fixtures = stores_with_fixture();
  EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()),
            std::set<std::string>(fixtures.begin(), fixtures.end()));
}

}  // namespace holdfast::conformance
