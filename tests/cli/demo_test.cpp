// The demonstration shows what it says: counted by its JSON, and by what it leaves behind.
#include <csignal>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/demo/shelf.hpp"
#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Demo : public CliTest {
 protected:
  Spawned start_demo(Words options) const {
    options.insert(options.begin(), {"demo", "oversell"});
    Spawned::Setup how = setup();
    how.environment.push_back("TMPDIR=" + scratch().string());
    std::filesystem::create_directories(scratch());
    return start(options, how);
  }

  json result_of(Words options) const {
    options.push_back("--json");
    Spawned demo = start_demo(options);
    EXPECT_EQ(demo.exit_code(60s), 0) << demo.out() << demo.err();
    EXPECT_TRUE(std::filesystem::is_empty(scratch()));
    return json::parse(demo.out());
  }

  std::filesystem::path scratch() const { return file("scratch"); }
};

void expect_exact(const json& row) {
  EXPECT_EQ(row["sold"], 1000) << row;
  EXPECT_EQ(row["shelf"], 0) << row;
  EXPECT_EQ(row["served"], 800) << row;
  EXPECT_EQ(row["refused"], 300) << row;
  EXPECT_EQ(row["twice"], 0) << row;
  EXPECT_EQ(row["fences_grow"], true) << row;
  EXPECT_EQ(row["exact"], true) << row;
}

// The two rows without Holdfast are the broken variants: the same shelf, the same buyers.
TEST_F(Demo, OnlyHoldfastSellsWhatIsThere) {
  const json result = result_of({"--seed", "7", "--repeat", "3"});
  EXPECT_EQ(result["exact"], true);
  ASSERT_EQ(result["runs"].size(), 3u);
  EXPECT_EQ(result["runs"][2]["seed"], 9);
  for (const json& run : result["runs"]) {
    const json& rows = run["rows"];
    ASSERT_EQ(rows.size(), 3u);
    for (const std::size_t broken : {0U, 1U}) {
      EXPECT_GT(rows[broken]["sold"], 1000) << rows[broken];
      EXPECT_GT(rows[broken]["sum"], 1000) << rows[broken];
      EXPECT_EQ(rows[broken]["exact"], false);
    }
    expect_exact(rows[2]);
    EXPECT_LE(rows[2]["wait_p50"], rows[2]["wait_p99"]);
    EXPECT_LE(rows[2]["wait_p99"], rows[2]["time"]);
  }
}

TEST_F(Demo, IsExactWithALockForEachArticle) {
  const json rows = result_of({"--skus", "20"})["runs"][0]["rows"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3]["articles"], 20);
  expect_exact(rows[3]);
}

TEST_F(Demo, IsExactThoughAShopIsKilled_F028) {
  const json result = result_of({"--kill", "--repeat", "3", "--store", url()});
  for (const json& run : result["runs"]) {
    const json& row = run["rows"][0];
    expect_exact(row);
    EXPECT_GT(row["killed"]["fence"], 0);
    EXPECT_GT(row["killed"]["buyers_left"], 0);
    EXPECT_GT(row["killed"]["take_over"], 0.0);
    EXPECT_LT(row["killed"]["take_over"], 2.0) << "the lease: the death should be seen before";
  }
}

TEST_F(Demo, RefusesTheWriteOfAStoppedHolder_F017) {
  const json scene = result_of({"--pause"})["runs"][0]["pause"];
  const json& stopped = scene["stopped"];
  EXPECT_EQ(scene["as_promised"], true) << scene;
  EXPECT_EQ(stopped["valid_when_woken"], false);
  EXPECT_EQ(stopped["told_lost"], true);
  EXPECT_EQ(stopped["release"], "lost");
  EXPECT_EQ(stopped["refused"], true);
  EXPECT_EQ(stopped["refused_because_of"], scene["other"]["last_fence"]);
  EXPECT_GT(scene["other"]["first_fence"], stopped["fence"]);
  EXPECT_EQ(scene["checks_fences"]["sum"], 1000);
  EXPECT_EQ(scene["does_not"]["sum"], 1010) << "the shelf that does not check is to be wrong";
}

TEST_F(Demo, SpeaksToPeople) {
  Spawned demo = start_demo({"--color", "never"});
  EXPECT_EQ(demo.exit_code(60s), 0);
  EXPECT_THAT(demo.out(), HasSubstr("no lock"));
  EXPECT_THAT(demo.out(), HasSubstr("exact"));
  EXPECT_THAT(demo.out(), HasSubstr("seed 42"));
  EXPECT_THAT(demo.out(), testing::Not(HasSubstr("\x1b")));
  EXPECT_EQ(demo.err(), "");
}

TEST_F(Demo, LeavesNothingBehindWhenItIsStopped) {
  Spawned demo = start_demo({"--repeat", "1000"});
  ASSERT_TRUE(eventually([&] { return demo.out().find("seed 43") != std::string::npos; }));
  demo.signal(SIGTERM);
  EXPECT_EQ(demo.exit_code(), 128 + SIGTERM);
  EXPECT_TRUE(std::filesystem::is_empty(scratch()));
}

TEST_F(Demo, RefusesWhatMakesNoSense) {
  EXPECT_EQ(done({"demo"}).exit_code(), 64);
  EXPECT_EQ(done({"demo", "undersell"}).exit_code(), 64);
  EXPECT_EQ(done({"demo", "oversell", "--kill", "--pause"}).exit_code(), 64);
  EXPECT_EQ(done({"demo", "oversell", "--seed", "-1"}).exit_code(), 65);
  EXPECT_EQ(done({"demo", "oversell", "--repeat", "0"}).exit_code(), 65);
  EXPECT_EQ(done({"demo", "oversell", "--skus", "3"}).exit_code(), 65);
  EXPECT_EQ(done({"demo", "oversell", "--store", "memory:"}).exit_code(), 78);
  EXPECT_EQ(done({"demo", "oversell", "--store", "nonsense:"}).exit_code(), 65);
  EXPECT_EQ(done({"__shop"}).exit_code(), 64);
}

// ---- the shelf itself ----

TEST_F(Demo, ASaleThatTheLedgerLacksIsAdded) {
  cli::Shelf::make(file("s"), 10);
  const cli::Shelf shelf(file("s"));
  cli::ShelfRecord record = shelf.read();
  record.units = 8;
  record.visits = 1;
  record.last = {.buyer = 5, .units = 2, .fence = 3};
  // As one leaves it who is killed before the ledger.
  std::fstream(file("s.shelf"), std::ios::in | std::ios::out | std::ios::binary)
      .write(reinterpret_cast<const char*>(&record), sizeof record);
  EXPECT_TRUE(shelf.ledger().empty());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(shelf.read_and_repair().units, 8);
    ASSERT_EQ(shelf.ledger().size(), 1u);
    EXPECT_EQ(shelf.ledger()[0].buyer, 5);
  }
}

TEST_F(Demo, AShelfRefusesSmallerFences) {
  cli::Shelf::make(file("s"), 10);
  cli::Shelf shelf(file("s"));
  EXPECT_EQ(shelf.write_fenced({.units = 8, .visits = 1, .last = {.fence = 7}}), 0u);
  EXPECT_EQ(shelf.write_fenced({.units = 6, .visits = 2, .last = {.fence = 6}}), 7u);
  EXPECT_EQ(shelf.read().units, 8);
  EXPECT_EQ(shelf.ledger().size(), 1u);
  EXPECT_EQ(shelf.write_fenced({.units = 6, .visits = 2, .last = {.fence = 7}}), 0u);
}

}  // namespace
}  // namespace holdfast::cli_tests
