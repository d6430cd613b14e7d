#include "integration/zookeeper/curator_bench.hpp"

#include <algorithm>
#include <utility>

#include "support/net/address.hpp"
#include "support/soon.hpp"

namespace holdfast::test {

void CuratorBench::SetUp() {
  if (const std::string missing = CuratorPeer::missing(); !missing.empty()) {
    GTEST_SKIP() << "no " << missing;
  }
}

std::string CuratorBench::url(const std::string& options) const {
  return "zk://" + server_.host() + base_ + "?" + options;
}

Client CuratorBench::open(const std::string& options) const {
  return connect(url(options)).value();
}

CuratorPeer& CuratorBench::java() {
  if (!java_) java_.emplace(server_.host());
  return *java_;
}

std::vector<std::string> CuratorBench::nodes(const std::string& below) {
  std::vector<std::string> all = raw_.children(lock_ + below);
  std::sort(all.begin(), all.end(), [](const std::string& one, const std::string& other) {
    return one.substr(one.size() - 10) < other.substr(other.size() - 10);
  });
  return all;
}

bool CuratorBench::until_there_are(std::size_t count, const std::string& below) {
  return eventually(
      [&] { return raw_.exists(lock_ + below) && raw_.children(lock_ + below).size() == count; });
}

Result<Hold> granted(Pending<Hold> pending) { return std::move(pending).get_for(kSoon); }

}  // namespace holdfast::test
