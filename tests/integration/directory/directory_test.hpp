// What the tests of the directory store share: a folder of their own, clients of it, and single
// stores in a time that the test turns.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "store/directory/directory_store.hpp"
#include "support/answer.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/manual_clock.hpp"
#include "support/outcome.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "support/temp_folder.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;
using store::directory::DirectoryStore;
using store::directory::Steps;

class DirectoryTest : public testing::Test {
 protected:
  const std::string& folder() const { return folder_.path(); }
  std::string url() const { return "dir:" + folder(); }
  std::string lock_folder(const std::string& name = "lock") const { return folder_ / name; }

  Client open(ClientOptions options = {}) const {
    return connect(url(), std::move(options)).value();
  }
  // The files of a lock that begin with this letter, in order.
  std::vector<std::string> files(char letter, const std::string& name = "lock") const;

 private:
  TempFolder folder_;
};

// One store, and the claims that use it: what a client is before it has an engine.
class OneStore {
 public:
  OneStore(const std::string& folder, const store::Clock&, std::uint64_t client, Steps* = nullptr);
  OneStore(const OneStore&) = delete;
  OneStore& operator=(const OneStore&) = delete;
  ~OneStore() { store_.close(); }

  store::GrantReply ask(std::uint64_t claim = 1, std::string_view name = "lock");
  bool renews(std::uint64_t fence, std::uint64_t claim = 1, std::string_view name = "lock");
  bool releases(std::uint64_t fence, std::uint64_t claim = 1, std::string_view name = "lock");
  bool forces(std::uint64_t fence, bool now, std::string_view name = "lock");

  // The fence, 0 if it was not granted.
  std::uint64_t granted(std::uint64_t claim = 1, std::string_view name = "lock");
  // Takes the lock and gives it back, so often.
  void pass(int times);

  store::GrantRequest request(std::uint64_t claim, std::string_view name) const;
  store::Store& store() { return store_; }

  static constexpr Duration kLease = 10s;
  static constexpr Duration kSilence =
      kLease + store::directory::allowance_of(kLease);  // of the dead

 private:
  store::HoldKey key(std::uint64_t fence, std::uint64_t claim, std::string_view name) const;

  const store::ClientId client_;
  DirectoryStore store_;
};

}  // namespace holdfast::test
