#include "conformance/scenarios.hpp"

#include "runtime/boot_clock.hpp"
#include "store/memory/memory_store.hpp"

namespace holdfast::conformance {
namespace {

// Memory once more, in a time that cannot be turned: so that the scenarios are known to work there
// before the first store comes that has a server.
class RealTimeMemory final : public test::StoreFixture {
 public:
  std::string name() const override { return kName; }
  store::Capabilities expected_capabilities() const override { return {}; }
  test::Pace pace() const override { return {.lease = 600ms, .slack = 100ms, .is_real = true}; }
  test::OpenedClient open_client() override {
    return {{0x7265616c, ++clients_}, std::make_unique<store::MemoryStore>(server_, clock_)};
  }
  void let_pass(Duration time) override { std::this_thread::sleep_for(time); }

  static constexpr const char* kName = "memory_in_real_time";

 private:
  runtime::BootClock clock_;
  std::shared_ptr<store::MemoryServer> server_ = std::make_shared<store::MemoryServer>();
  std::uint64_t clients_ = 0;
};

}  // namespace

std::vector<std::string> scenario_stores() {
  std::vector<std::string> names = stores_to_try();
  names.emplace_back(RealTimeMemory::kName);
  return names;
}

std::unique_ptr<test::StoreFixture> make_scenario_fixture(const std::string& name) {
  if (name == RealTimeMemory::kName) return std::make_unique<RealTimeMemory>();
  return make_fixture(name);
}

}  // namespace holdfast::conformance
