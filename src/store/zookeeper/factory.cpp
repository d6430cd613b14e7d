#include "holdfast/store/factory.hpp"

#include <array>
#include <utility>

#include "store/zookeeper/address.hpp"
#include "store/zookeeper/session.hpp"
#include "store/zookeeper/zookeeper_store.hpp"

namespace holdfast::store {
namespace {

constexpr std::array<std::string_view, 2> kSchemes{"zk", "zks"};

Result<std::unique_ptr<Store>> open(const Url& url, const Surroundings& around) {
  auto address = zookeeper::parse_address(url);
  if (!address) return address.error();
  auto settings = zookeeper::ZookeeperStore::settings_of(*address);
  auto session = zookeeper::Session::open(*std::move(address), around);
  if (!session) return session.error();
  return std::unique_ptr<Store>(std::make_unique<zookeeper::ZookeeperStore>(
      *std::move(session), around, std::move(settings)));
}

}  // namespace

extern const StoreFactory k_zookeeper_factory;
constinit const StoreFactory k_zookeeper_factory{kSchemes, &open};

}  // namespace holdfast::store
