#include "support/test_client.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "api/client_handle.hpp"
#include "api/engine_settings.hpp"
#include "api/machinery.hpp"
#include "api/store_registry.hpp"
#include "runtime/kernel_random.hpp"
#include "support/answer.hpp"

namespace holdfast::test {

namespace {

core::EngineSettings settings_of(const ClientOptions& options, store::ClientId client,
                                 const store::Capabilities& can) {
  return detail::engine_settings(options, {.host = "host", .pid = 1, .program = "test"}, client,
                                 can);
}

}  // namespace

// ---- real time, real threads ----

store::ClientId new_client_id() {
  runtime::KernelRandom random;
  return {random.next(), random.next()};
}

Client connect_to(const OpenStore& open, ClientOptions options) {
  auto machinery = std::make_unique<detail::Machinery>();
  machinery->close_within = options.close_within;
  machinery->loop = std::move(*runtime::EpollLoop::start());
  OpenedClient opened = open(machinery->clock, *machinery->loop);
  core::EngineSettings settings = settings_of(options, opened.id, opened.store->capabilities());
  machinery->driver = std::make_unique<runtime::Driver>(
      std::move(settings),
      runtime::DriverParts{machinery->clock, *machinery->loop, machinery->callbacks,
                           machinery->random, std::move(opened.store), std::move(options.observer),
                           std::move(options.executor)});
  return detail::ClientHandle::make_client(detail::Machinery::share(std::move(machinery)));
}

OpenedClient open_by_url(const std::string& url, const runtime::BootClock& clock,
                         runtime::EpollLoop& loop) {
  static runtime::KernelRandom random;
  const store::Url parsed = store::Url::parse(url).value();
  const store::ClientId id = new_client_id();
  for (const store::StoreFactory* factory : store::registered_stores()) {
    for (const std::string_view scheme : factory->schemes) {
      if (scheme == parsed.scheme) {
        return {id, factory->open(parsed, {clock, loop, random, id}).value()};
      }
    }
  }
  throw std::runtime_error("no store for " + url);
}

LinkedClient connect_linked(const std::shared_ptr<store::MemoryServer>& server,
                            ClientOptions options) {
  SwitchableStore* link = nullptr;
  Client client = connect_to(
      [&](const runtime::BootClock& clock, runtime::EpollLoop&) -> OpenedClient {
        auto store =
            std::make_unique<SwitchableStore>(std::make_unique<store::MemoryStore>(server, clock));
        link = store.get();
        return {new_client_id(), std::move(store)};
      },
      std::move(options));
  return {std::move(client), link};
}

// ---- by hand ----

HandBench::HandBench()
    : server_(std::make_shared<store::MemoryServer>()),
      open_([this]() -> OpenedClient {
        return {{0x68616e64, ++clients_}, std::make_unique<store::MemoryStore>(server_, clock_)};
      }),
      also_pass_([](Duration) {}),
      operator_(open_()) {}

HandBench::HandBench(std::function<OpenedClient()> open, std::function<void(Duration)> also_pass)
    : open_(std::move(open)), also_pass_(std::move(also_pass)), operator_(open_()) {}

HandBench::~HandBench() { operator_.store->close(); }

HandBench::Seat& HandBench::client(ClientOptions options) {
  return seats_.emplace_back(clock_, open_(), std::move(options));
}

void HandBench::settle() {
  bool ran = true;
  while (ran) {
    ran = false;
    for (Seat& seat : seats_) {
      while (seat.run_one(now())) ran = true;
    }
  }
}

TimePoint HandBench::next_timer() const {
  TimePoint next = kNever;
  for (const Seat& seat : seats_) next = std::min(next, seat.next_timer());
  return next;
}

void HandBench::let_pass(Duration length) {
  const TimePoint end = now() + length;
  settle();
  while (now() < end) {
    const Duration step = std::min(end, next_timer()) - now();
    clock_.advance(step);
    also_pass_(step);
    settle();
  }
}

void HandBench::oversleep(Duration length) {
  clock_.advance(length);
  also_pass_(length);
}

std::vector<store::LockView> HandBench::look(std::string_view pattern) {
  Answer<store::InspectReply> answer;
  operator_.store->inspect(pattern, answer.call());
  const auto* found = answer.get<std::vector<store::LockView>>();
  return found == nullptr ? std::vector<store::LockView>() : *found;
}

bool HandBench::force(const Hold& hold, Force how) {
  store::ForceRequest request;
  request.name = store::LockName::checked(hold.name()).value();
  request.fence = hold.fence().value();
  request.now = how == Force::free_now;
  Answer<store::ForceReply> answer;
  operator_.store->force_release(request, answer.call());
  return answer.get<store::Forced>() != nullptr;
}

HandBench::Seat::Seat(const store::Clock& clock, OpenedClient opened, ClientOptions options)
    : id_(opened.id) {
  auto store = std::make_unique<SwitchableStore>(std::move(opened.store));
  link_ = store.get();
  core::EngineSettings settings = settings_of(options, id_, store->capabilities());
  driver_ = std::make_unique<runtime::Driver>(
      std::move(settings),
      runtime::DriverParts{clock, loop_, callbacks_, random_, std::move(store),
                           std::move(options.observer), std::move(options.executor)});
  // The last reference may go in the middle of what the driver does: it is ended later, from outside.
  client_ = detail::ClientHandle::make_client(std::shared_ptr<runtime::Driver>(
      driver_.get(), [this](runtime::Driver*) { state_ = State::retired; }));
}

HandBench::Seat::~Seat() {
  client_.reset();
  if (state_ != State::ended) end();
}

bool HandBench::Seat::run_one(TimePoint now) {
  if (loop_.run_one(now) || callbacks_.run_one()) return true;
  if (state_ != State::retired || !driver_->drained()) return false;
  end();
  return true;
}

void HandBench::Seat::end() {
  driver_->shut_down(Duration::zero());
  loop_.stop();
  while (callbacks_.run_one()) {
  }
  state_ = State::ended;  // the driver stays, so that a test may still look at its link
}

store::HoldKey HandBench::Seat::hold_key(std::uint64_t claim, FencingToken fence,
                                         std::string_view name) const {
  store::HoldKey key;
  key.name = store::LockName::checked(name).value();
  key.owner = {id_, claim};
  key.fence = fence.value();
  return key;
}

}  // namespace holdfast::test
