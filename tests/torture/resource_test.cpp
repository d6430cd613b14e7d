#include "torture/resource.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "checker/checker.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::torture {
namespace {

class TortureResource : public testing::Test {
 protected:
  std::string path() const { return folder_ / "resource"; }

  // A read, and the write of what was read plus one.
  static Values count(ResourceLink& link, std::uint64_t fence) {
    const Values read = link.access({.client = 1, .fence = fence});
    return link.access({.client = 1,
                        .fence = fence,
                        .write = true,
                        .fenced = read.fenced + 1,
                        .twin = read.twin + 1});
  }
  static check::Report judged(ResourceServer& server) {
    server.stop();
    check::History history;
    server.finish({"orders"}, history);
    return check::check(history);
  }

  test::TempFolder folder_;
};

TEST_F(TortureResource, CountsForWhoeverHasTheLock) {
  ResourceServer server(path(), ResourceServer::Fences::checked);
  ResourceLink one(path()), two(path());
  EXPECT_TRUE(count(one, 1).accepted);
  EXPECT_TRUE(count(two, 2).accepted);
  EXPECT_EQ(server.lost_in_twin(), 0U);
  const check::Report report = judged(server);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.tally(check::Rule::no_lost_update).examined, 4U);
}

TEST_F(TortureResource, RefusesAStaleWriterAndItsTwinLosesAnUpdate) {
  ResourceServer server(path(), ResourceServer::Fences::checked);
  ResourceLink stale(path()), fresh(path());
  const Values read = stale.access({.client = 1, .fence = 1});
  EXPECT_TRUE(count(fresh, 2).accepted);
  EXPECT_FALSE(stale
                   .access({.client = 1,
                            .fence = 1,
                            .write = true,
                            .fenced = read.fenced + 1,
                            .twin = read.twin + 1})
                   .accepted);
  EXPECT_EQ(server.lost_in_twin(), 1U);
  const check::Report report = judged(server);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.figures.unfenced_lost_updates, 1U);
  EXPECT_EQ(report.figures.refused_stale_writes, 1U);
}

TEST_F(TortureResource, ThatIgnoresFencesIsFoundOut) {
  ResourceServer server(path(), ResourceServer::Fences::ignored);
  ResourceLink stale(path()), fresh(path());
  static_cast<void>(stale.access({.client = 1, .fence = 1}));
  static_cast<void>(count(fresh, 2));
  static_cast<void>(stale.access({.client = 1, .fence = 1, .write = true, .fenced = 1, .twin = 1}));
  EXPECT_FALSE(judged(server).ok());
}

TEST_F(TortureResource, GoesOnWhenAWorkerGoes) {
  ResourceServer server(path(), ResourceServer::Fences::checked);
  { const ResourceLink gone(path()); }
  ResourceLink link(path());
  EXPECT_TRUE(count(link, 1).accepted);
}

}  // namespace
}  // namespace holdfast::torture
