// Several locks for one command.
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"
#include "support/soon.hpp"

namespace holdfast::cli_tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SeveralNames : public CliTest {
 protected:
  bool is_free(const std::string& name) const { return fence_of(name) == 0; }
};

TEST_F(SeveralNames, AreHeldTogetherAndInTheOrderOfNames) {
  Spawned job = start_script({"b,a"},
                             "echo $HOLDFAST_LOCK; echo $HOLDFAST_FENCE > $D/fences; "
                             "while [ ! -e $D/end ]; do sleep 0.02; done");
  ASSERT_TRUE(written("fences"));
  std::string fences;
  std::getline(std::ifstream(file("fences")) >> std::ws, fences);
  EXPECT_EQ(fences, std::to_string(fence_of("a")) + "," + std::to_string(fence_of("b")));
  EXPECT_EQ(done({"run", "-n", "a", "--", "true"}).exit_code(), 75);
  EXPECT_EQ(done({"run", "-n", "b", "--", "true"}).exit_code(), 75);
  std::ofstream(file("end")) << "go";
  EXPECT_EQ(job.exit_code(), 0);
  EXPECT_EQ(job.out(), "a,b\n");
  EXPECT_TRUE(is_free("a"));
  EXPECT_TRUE(is_free("b"));
}

TEST_F(SeveralNames, AreAllHadOrNone) {
  Spawned other = holder({"b"}, "other");
  ASSERT_TRUE(written("other"));
  Spawned both = done({"run", "-n", "a,b", "--", "true"});
  EXPECT_EQ(both.exit_code(), 75);
  EXPECT_THAT(both.err(), HasSubstr("busy: b is held"));
  EXPECT_TRUE(is_free("a")) << "what was had is given back";
  EXPECT_EQ(done({"run", "-w", "300ms", "a,b", "--", "true"}).exit_code(), 75)
      << "one limit for all";
  EXPECT_THAT(done({"run", "--dry-run", "a,b", "--", "true"}).out(),
              testing::AllOf(HasSubstr("would run"), HasSubstr("would wait behind 1")));
  let_go("other");
  EXPECT_EQ(other.exit_code(), 0);
}

TEST_F(SeveralNames, GivenInOppositeOrdersDoNotWaitForEachOther) {
  Spawned first = holder({"y"}, "first"), second = holder({"x"}, "second");
  ASSERT_TRUE(written("first"));
  ASSERT_TRUE(written("second"));
  std::vector<Spawned> jobs;
  for (int i = 0; i < 6; ++i) {
    jobs.push_back(start({"run", i % 2 == 0 ? "x,y" : "y,x", "--", "true"}));
  }
  ASSERT_TRUE(waiting("x", 6)) << "all of them want the same one first";
  let_go("first");
  let_go("second");
  for (Spawned& job : jobs) EXPECT_EQ(job.exit_code(), 0);
}

TEST_F(SeveralNames, AreLostWithTheFirstThatIs_F146) {
  Spawned job = holder({"-l", "2s", "a,b"}, "job");
  ASSERT_TRUE(written("job"));
  const std::string fence = std::to_string(fence_of("b"));
  EXPECT_EQ(done({"release", "--now", "b", "--fence", fence, "--reason", "x"}).exit_code(), 0);
  EXPECT_EQ(job.exit_code(), 80);
  EXPECT_THAT(job.err(), HasSubstr("lost b while"));
  EXPECT_TRUE(is_free("a"));
}

// The first is forced away while the second is waited for: nothing was done under it.
TEST_F(SeveralNames, BeginAnewIfOneIsLostWhileTheNextIsWaitedFor) {
  Spawned other = holder({"b"}, "other");
  ASSERT_TRUE(written("other"));
  Spawned both = start({"run", "-l", "2s", "-v", "a,b", "--", "true"});
  ASSERT_TRUE(waiting("b", 1));
  const std::uint64_t fence = fence_of("a");
  EXPECT_EQ(done({"release", "--now", "a", "--fence", std::to_string(fence), "--reason", "x"})
                .exit_code(),
            0);
  EXPECT_TRUE(test::eventually([&] { return fence_of("a") > fence; }));
  let_go("other");
  EXPECT_EQ(both.exit_code(), 0);
  EXPECT_THAT(both.err(), HasSubstr("acquired a,b"));
  EXPECT_EQ(other.exit_code(), 0);
}

TEST_F(SeveralNames, AreReportedToPrograms) {
  Spawned job = done({"run", "--json", "-v", "a,b", "--", "true"});
  EXPECT_EQ(job.exit_code(), 0);
  std::istringstream lines(job.err());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const json acquired = json::parse(line);
  EXPECT_EQ(acquired["event"], "acquired");
  EXPECT_EQ(acquired["name"], "a,b");
  EXPECT_EQ(acquired["fences"].size(), 2U);
}

TEST_F(SeveralNames, ThatMakeNoSenseAreRefused) {
  EXPECT_EQ(done({"run", "a,a", "--", "true"}).exit_code(), 64);
  EXPECT_EQ(done({"run", "--no-renew", "a,b", "--", "true"}).exit_code(), 64);
  EXPECT_EQ(done({"run", "a,", "--", "true"}).exit_code(), 65);
  EXPECT_EQ(done({"run", ",", "--", "true"}).exit_code(), 65);
}

}  // namespace
}  // namespace holdfast::cli_tests
