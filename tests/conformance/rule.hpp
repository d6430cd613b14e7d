// The suite that every store has to pass. A rule is written once:
//
//   HOLDFAST_RULE(ReleaseFreesTheLock) {
//     Claimant& alice = on.claimant();
//     EXPECT_TRUE(alice.releases(alice.granted().fence));
//     EXPECT_TRUE(on.is_free());
//   }
//
// and becomes the test StoreConformance.ReleaseFreesTheLock of each store on stores.list. It can
// also be run against a store that is broken on purpose: see rules_bite_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "conformance/bench.hpp"
#include "conformance/show.hpp"

namespace holdfast::conformance {

class StoreConformance : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  void TearDown() override;
  Bench& bench() { return *bench_; }

 private:
  std::unique_ptr<test::StoreFixture> fixture_;
  std::unique_ptr<Bench> bench_;
};

struct Rule {
  std::string name;
  void (*check)(Bench& on);
};

const std::vector<Rule>& all_rules();
const Rule* find_rule(const std::string& name);

// What a rule finds wrong with a store: one text per failed expectation, none if it is content.
std::vector<std::string> complaints(const Rule&, test::StoreFixture&);

struct RuleEntry {
  RuleEntry(const char* name, void (*check)(Bench&));
};

}  // namespace holdfast::conformance

#define HOLDFAST_RULE(Name)                                                  \
  static void Name(::holdfast::conformance::Bench& on);                      \
  static const ::holdfast::conformance::RuleEntry kRule##Name(#Name, &Name); \
  TEST_P(StoreConformance, Name) { Name(bench()); }                          \
  static void Name([[maybe_unused]] ::holdfast::conformance::Bench& on)

// Leaves the rule if the store does not declare the capability it is about.
#define HOLDFAST_NEEDS(capability)   \
  if (!on.capabilities().capability) \
  GTEST_SKIP() << "the store " << on.store_name() << " declares " #capability " = false"

// Does something to the store, or leaves the rule if that cannot be done.
#define HOLDFAST_FAULT(fault) \
  if (!on.fixture().fault) GTEST_SKIP() << "the store " << on.store_name() << " cannot do: " #fault
