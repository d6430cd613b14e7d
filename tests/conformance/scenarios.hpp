// What scenarios need: clients of any store on stores.list, and of memory in real time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixtures/fixture_list.hpp"
#include "holdfast/holdfast.hpp"
#include "support/client_bench.hpp"

namespace holdfast::conformance {

using namespace std::chrono_literals;
using test::ClientBench;
using test::Link;
using Peer = ClientBench::Peer;

// The stores to run scenarios on, and how.
std::vector<std::string> scenario_stores();
std::unique_ptr<test::StoreFixture> make_scenario_fixture(const std::string& name);

class Scenarios : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    fixture_ = make_scenario_fixture(GetParam());
    ASSERT_NE(fixture_, nullptr);
    if (auto real = fixture_->in_real_time()) fixture_ = std::move(real);
    on_.emplace(*fixture_);
  }
  void TearDown() override { on_.reset(); }

  ClientBench& on() { return *on_; }
  Duration lease() { return on().lease(); }
  AcquireOptions with(Order order) { return {.lease = lease(), .order = order}; }

  // Arrival counts, not asking: a store with threads of its own may hear the next one first.
  void until_waiting(std::size_t count) {
    const auto waiting = [&] {
      const auto locks = on().look("lock");
      return locks.empty() ? 0 : locks[0].line.size();
    };
    ASSERT_TRUE(on().comes_true([&] { return waiting() == count; }, 20s)) << waiting();
  }

  bool has_fifo() { return on().capabilities().mutex_fifo; }

 private:
  std::unique_ptr<test::StoreFixture> fixture_;
  std::optional<ClientBench> on_;
};

#define HOLDFAST_SCENARIO_NEEDS(capability) \
  if (!on().capabilities().capability)      \
  GTEST_SKIP() << "the store " << GetParam() << " declares " #capability " = false"

}  // namespace holdfast::conformance
