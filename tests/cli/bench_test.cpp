#include <nlohmann/json.hpp>

#include "cli/bench/raw_pairs.hpp"
#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"
#include "store/sqlite/statements.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;

class Bench : public CliTest {};

// "noted(0, x + 1)" is "x + 1".
std::string without_notes(std::string sql) {
  constexpr std::string_view kNoted = "noted(";
  for (auto at = sql.find(kNoted); at != std::string::npos; at = sql.find(kNoted)) {
    std::size_t end = at + kNoted.size();
    for (int open = 1; open > 0; ++end)
      open += sql.at(end) == '(' ? 1 : sql.at(end) == ')' ? -1 : 0;
    const std::size_t value = sql.find(", ", at) + 2;
    sql = sql.substr(0, at) + sql.substr(value, end - 1 - value) + sql.substr(end);
  }
  return sql;
}

// How fast it is depends on the machine; that everything was measured does not.
TEST_F(Bench, MeasuresEverything) {
  for (const Words& store : {Words{}, Words{"--store", url()}}) {
    Words words{"bench", "--seconds", "1", "--json"};
    words.insert(words.end(), store.begin(), store.end());
    Spawned bench = done(words);
    ASSERT_EQ(bench.exit_code(), 0) << bench.err();
    const json result = json::parse(bench.out());
    for (const char* part : {"raw", "one_thread", "threads", "threads_with_rival"}) {
      EXPECT_GT(result[part]["pairs_per_second"], 0.0) << part;
      EXPECT_EQ(result[part]["rounds"].size(), 5u) << part;
    }
    EXPECT_GT(result["one_thread"]["of_raw"], 0.0);
    EXPECT_GT(result["rival_waits"]["count"], 0);
    EXPECT_GT(result["rival_waits"]["p50"], 0.0);
    EXPECT_GE(result["rival_waits"]["max"], result["rival_waits"]["p50"]);
    EXPECT_EQ(result["handoff_count"], 16);
    EXPECT_EQ(result["handoff_time"], 0.02);
  }
  EXPECT_EQ(done({"ls", "--json"}).out(), "[]\n");
}

TEST_F(Bench, LeavesTheRawLoopOutWhereThereIsNone) {
  Spawned bench = done({"bench", "embedded:", "--seconds", "1", "--json"});
  ASSERT_EQ(bench.exit_code(), 0) << bench.err();
  EXPECT_TRUE(json::parse(bench.out())["raw"].is_null());
}

TEST_F(Bench, ComparesWithTheStatementsOfTheStore) {
  EXPECT_EQ(cli::kRawGrant, without_notes(store::sqlite::kGrant) + "\nRETURNING fence, spare");
  EXPECT_STREQ(cli::kRawRelease, store::sqlite::kRelease);
}

TEST_F(Bench, RefusesWhatMakesNoSense) {
  EXPECT_EQ(done({"bench", "--seconds", "x"}).exit_code(), 65);
  EXPECT_EQ(done({"bench", "--seconds", "0"}).exit_code(), 65);
  EXPECT_EQ(done({"bench", "memory:"}).exit_code(), 78);
  EXPECT_EQ(done({"bench", "a", "b"}).exit_code(), 64);
  EXPECT_EQ(done({"__rival"}).exit_code(), 64);
}

}  // namespace
}  // namespace holdfast::cli_tests
