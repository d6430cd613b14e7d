#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "api/client_handle.hpp"
#include "api/engine_settings.hpp"
#include "api/machinery.hpp"
#include "api/store_id.hpp"
#include "api/store_registry.hpp"
#include "holdfast/client.hpp"
#include "holdfast/store/url.hpp"
#include "runtime/process_info.hpp"

namespace holdfast {

namespace {

Result<void> check(const ClientOptions& options) {
  const auto bad = [](const char* text) { return Error(Errc::invalid_argument, text); };
  constexpr Duration kShortest = std::chrono::milliseconds(1);
  if (options.answer_within < kShortest) return bad("answer_within must be at least 1 ms");
  if (options.patience < kShortest) return bad("patience must be at least 1 ms");
  if (options.drift_ppm > 100'000) return bad("drift_ppm must be at most 100000 (10 %)");
  if (options.drift_constant < Duration::zero() || options.drift_constant > kMinLease / 4) {
    return bad("drift_constant must be between 0 and 25 ms");
  }
  if (options.handoff_count > 1023) return bad("handoff_count must be at most 1023");
  if (options.close_within < Duration::zero()) return bad("close_within must not be negative");
  if (options.program.size() > kMaxProgram) return bad("program must have at most 256 bytes");
  return {};
}

const store::StoreFactory* find_factory(std::string_view scheme) {
  for (const store::StoreFactory* factory : store::registered_stores()) {
    if (std::find(factory->schemes.begin(), factory->schemes.end(), scheme) !=
        factory->schemes.end()) {
      return factory;
    }
  }
  return nullptr;
}

std::string known_schemes() {
  std::string text;
  for (const store::StoreFactory* factory : store::registered_stores()) {
    for (const std::string_view scheme : factory->schemes) {
      text += (text.empty() ? "" : ", ") + std::string(scheme) + ":";
    }
  }
  return text;
}

constexpr std::string_view kDefaultUrl = "embedded:";

Result<store::Url> parse(std::string_view text) {
  if (text.empty()) {
    const char* variable = std::getenv("HOLDFAST_URL");
    text = variable != nullptr ? variable : "";
  }
  return store::Url::parse(text.empty() ? kDefaultUrl : text);
}

}  // namespace

Result<Client> connect(std::string_view text, ClientOptions options) {
  const Result<store::Url> url = parse(text);
  if (!url) return url.error();
  const store::StoreFactory* factory = find_factory(url->scheme);
  if (factory == nullptr) {
    return Error(Errc::unsupported, "unsupported: no store for the scheme \"" +
                                        store::printable(url->scheme) +
                                        ":\" in this build; known are " + known_schemes());
  }
  if (const Result<void> good = check(options); !good) return good.error();

  auto loop = runtime::EpollLoop::start();
  if (!loop) return loop.error();
  auto machinery = std::make_unique<detail::Machinery>();
  machinery->close_within = options.close_within;
  machinery->loop = std::move(*loop);
  const store::ClientId id{machinery->random.next(), machinery->random.next()};
  auto store = factory->open(*url, {machinery->clock, *machinery->loop, machinery->random, id});
  if (!store) return store.error();

  core::EngineSettings settings =
      detail::engine_settings(options, runtime::this_process(), id, (*store)->capabilities());
  machinery->driver = std::make_unique<runtime::Driver>(
      std::move(settings),
      runtime::DriverParts{machinery->clock, *machinery->loop, machinery->callbacks,
                           machinery->random, std::move(*store), std::move(options.observer),
                           std::move(options.executor)});
  return detail::ClientHandle::make_client(detail::Machinery::share(std::move(machinery)),
                                           detail::store_id(*url));
}

}  // namespace holdfast
