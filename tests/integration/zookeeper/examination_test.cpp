// What the doctor says of an ensemble and of a session with it.
#include <algorithm>
#include <string_view>

#include "integration/zookeeper/lock_bench.hpp"

namespace holdfast::store::zookeeper {
namespace {

class ZookeeperDoctor : public LockBench {
 protected:
  std::vector<Finding> findings(Duration timeout) {
    auto tree = std::make_unique<MemoryTree>(all_, clock_, timeout);
    ZookeeperStore store(
        std::move(tree), Surroundings{clock_, loop_, random_, {1, 2}},
        ZookeeperStore::Settings{.ground = {.layout = Layout("/locks")}, .asked_timeout = timeout});
    Answer<ExamineReply> answer;
    store.examine(answer.call());
    const auto* found = answer.get<std::vector<Finding>>();
    EXPECT_NE(found, nullptr);
    return found == nullptr ? std::vector<Finding>() : *found;
  }
  static bool warns_of(const std::vector<Finding>& findings, std::string_view subject) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
      return each.level == Finding::Level::warning && each.subject == subject;
    });
  }
};

TEST_F(ZookeeperDoctor, WarnsOfASessionThatMayBeShorterThanTwoTicks) {
  EXPECT_TRUE(warns_of(findings(2s), "session timeout"));
  EXPECT_FALSE(warns_of(findings(4s), "session timeout"));
}

TEST_F(ZookeeperDoctor, LeavesNothingBehind) {
  findings(20s);
  EXPECT_TRUE(nodes("/locks").empty());
}

}  // namespace
}  // namespace holdfast::store::zookeeper
