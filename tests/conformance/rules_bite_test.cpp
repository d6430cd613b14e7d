// Tests of the rules themselves: each is content with a store that is right and complains about one
// that is broken in just the way the rule is about.
#include <ostream>
#include <set>

#include "conformance/broken/broken_store.hpp"
#include "conformance/fixtures/fixture_list.hpp"
#include "conformance/rule.hpp"

namespace holdfast::conformance {

void PrintTo(const Breakage& breakage, std::ostream* out) { *out << breakage.name; }

class RulesBite : public testing::TestWithParam<Breakage> {};

TEST_P(RulesBite, WhenTheStoreIsBroken) {
  const Rule* rule = find_rule(GetParam().caught_by);
  ASSERT_NE(rule, nullptr) << "there is no rule " << GetParam().caught_by;

  const auto right = make_fixture("memory");
  EXPECT_EQ(complaints(*rule, *right), std::vector<std::string>{});

  BrokenFixture broken(GetParam());
  EXPECT_FALSE(complaints(*rule, broken).empty())
      << rule->name << " did not notice that " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Broken, RulesBite, testing::ValuesIn(all_breakages()),
                         [](const auto& breakage) {
                           return breakage.param.name + "_" + breakage.param.caught_by;
                         });

INSTANTIATE_TEST_SUITE_P(BrokenCells, RulesBite, testing::ValuesIn(cell_breakages()),
                         [](const auto& breakage) {
                           return breakage.param.name + "_" + breakage.param.caught_by;
                         });

TEST(Rules, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Rule& rule : all_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
  }
}

}  // namespace holdfast::conformance
