#include "conformance/rule.hpp"

#include <gtest/gtest-spi.h>

#include <algorithm>

#include "conformance/fixtures/fixture_list.hpp"

namespace holdfast::conformance {
namespace {

std::vector<Rule>& rules() {
  static std::vector<Rule> known;
  return known;
}

}  // namespace

RuleEntry::RuleEntry(const char* name, void (*check)(Bench&)) { rules().push_back({name, check}); }

const std::vector<Rule>& all_rules() { return rules(); }

const Rule* find_rule(const std::string& name) {
  const auto found =
      std::find_if(rules().begin(), rules().end(), [&](const Rule& r) { return r.name == name; });
  return found == rules().end() ? nullptr : &*found;
}

std::vector<std::string> complaints(const Rule& rule, test::StoreFixture& fixture) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter caught(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    Bench bench(fixture);
    rule.check(bench);
  }
  std::vector<std::string> texts;
  for (int i = 0; i < results.size(); ++i) {
    const testing::TestPartResult& result = results.GetTestPartResult(i);
    if (result.failed()) texts.emplace_back(result.message());
  }
  return texts;
}

void StoreConformance::SetUp() {
  fixture_ = make_fixture(GetParam());
  ASSERT_NE(fixture_, nullptr) << "stores.list names " << GetParam()
                               << ", but no file in fixtures/ says HOLDFAST_STORE_FIXTURE("
                               << GetParam() << ")";
  bench_ = std::make_unique<Bench>(*fixture_);
}

void StoreConformance::TearDown() {
  bench_.reset();
  fixture_.reset();
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance, testing::ValuesIn(stores_to_try()),
                         [](const auto& store) { return store.param; });

}  // namespace holdfast::conformance
