#include "torture/session.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "api/store_registry.hpp"
#include "holdfast/store/factory.hpp"
#include "runtime/kernel_random.hpp"
#include "support/soon.hpp"
#include "support/test_client.hpp"

namespace holdfast::torture {
namespace {

constexpr std::string_view kProgram = "torture-";

using Wrap = std::function<std::unique_ptr<store::Store>(std::unique_ptr<store::Store>)>;

std::unique_ptr<store::Store> open_store(const store::Url& url, const store::Surroundings& around) {
  for (const store::StoreFactory* factory : store::registered_stores()) {
    if (std::ranges::find(factory->schemes, url.scheme) == factory->schemes.end()) continue;
    auto opened = factory->open(url, around);
    // Some fault keeps it away; it will end.
    test::eventually([&] {
      if (opened || opened.error() != Errc::unavailable) return true;
      opened = factory->open(url, around);
      return opened.has_value();
    });
    if (!opened) throw std::runtime_error(opened.error().text());
    return std::move(*opened);
  }
  throw std::runtime_error("there is no store for the scheme " + url.scheme + ":");
}

Client open_client(const Doorway& door, ClientOptions options, const Wrap& wrap) {
  static runtime::KernelRandom random;  // stores keep it
  const auto url = store::Url::parse(door.url);
  if (!url) throw std::runtime_error(url.error().text());
  options.answer_within = door.answer_within;
  return test::connect_to(
      [&](const runtime::BootClock& clock, runtime::EpollLoop& loop) -> test::OpenedClient {
        const store::ClientId id = test::new_client_id();
        return {id, wrap(open_store(*url, {clock, loop, random, id}))};
      },
      std::move(options));
}

}  // namespace

store::Capabilities capabilities_of(const Doorway& door) {
  store::Capabilities can;
  open_client(door, {}, [&](std::unique_ptr<store::Store> store) {
    can = store->capabilities();
    return store;
  });
  return can;
}

std::string program_of(std::uint32_t client) {
  return std::string(kProgram) + std::to_string(client);
}

std::uint32_t client_from(const std::string& program) {
  std::uint32_t client = 0;
  if (!program.starts_with(kProgram)) return 0;
  std::from_chars(program.data() + kProgram.size(), program.data() + program.size(), client);
  return client;
}

Session::Session(const Doorway& door, Log& log, std::uint32_t no)
    : number(no), seen(std::make_shared<Sightings>(log, no, door.answer_within)) {
  ClientOptions options;
  options.program = program_of(no);
  client = open_client(door, std::move(options), [this](std::unique_ptr<store::Store> store) {
    return std::make_unique<WitnessStore>(std::move(store), seen);
  });
}

std::uint32_t Seat::reopen() {
  std::shared_ptr<Session> other = open_();
  std::optional<Client> closed;  // goes after the mutex was given back: it waits for releases
  const std::lock_guard lock(mutex_);
  closed.swap(session_->client);
  session_.swap(other);
  return other->number;
}

}  // namespace holdfast::torture
