#include "holdfast/store/factory.hpp"

#include <array>
#include <utility>

#include "store/redis/dial.hpp"
#include "store/redis/redis_store.hpp"

namespace holdfast::store {
namespace {

constexpr std::array<std::string_view, 3> kSchemes{"redis", "rediss", "redis+unix"};

Result<std::unique_ptr<Store>> open(const Url& url, const Surroundings& around) {
  constexpr int kNobodyGivesUp = -1;
  auto address = redis::parse_address(url);
  if (!address) return address.error();
  auto stream = redis::dial(*address, around.clock,
                            later(around.clock.now(), address->connect_within), kNobodyGivesUp);
  if (!stream) return stream.error();
  auto store = std::make_unique<redis::RedisStore>(std::move(*address), around, std::move(*stream));
  if (!store->complete()) {
    return Error(Errc::unavailable, "this process has no descriptors left for a client of Redis");
  }
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace

extern const StoreFactory k_redis_factory;
constinit const StoreFactory k_redis_factory{kSchemes, &open};

}  // namespace holdfast::store
