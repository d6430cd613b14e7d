#include "support/scripted_transport.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <future>
#include <optional>
#include <stdexcept>
#include <utility>

namespace holdfast::test {
namespace {

using store::LockName;

constexpr std::size_t kNumber = sizeof(std::uint64_t);

void append_number(std::string& bytes, std::uint64_t number) {
  char coded[kNumber];
  std::memcpy(coded, &number, kNumber);
  bytes.append(coded, kNumber);
}

// Takes the complete numbers off the front.
std::vector<std::uint64_t> take_numbers(std::string& bytes) {
  std::vector<std::uint64_t> numbers(bytes.size() / kNumber);
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * kNumber);
  bytes.erase(0, numbers.size() * kNumber);
  return numbers;
}

void ring(int event) {
  const std::uint64_t one = 1;
  while (write(event, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void quieten(int event) {
  std::uint64_t count = 0;
  while (read(event, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

std::uint64_t next_chance(std::uint64_t& state) {  // xorshift64*
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1D;
}

}  // namespace

Script random_fates(std::uint64_t seed, Odds odds) {
  return [state = seed * 2 + 1, odds](const LockName&) mutable {
    const auto draw = next_chance(state) >> 32;
    auto left = static_cast<unsigned>(draw % 1000);
    if (left < odds.later) return Fate::later;
    left -= odds.later;
    if (left < odds.never) return Fate::never;
    left -= odds.never;
    return left < odds.hang_up ? Fate::hang_up : Fate::at_once;
  };
}

// ---- the server's locks ----

class ScriptedServer::Table {
 public:
  explicit Table(const store::Clock& clock) : clock_(clock) {}

  store::GrantReply grant(const store::GrantRequest& request) {
    if (request.kind != store::Kind::mutex || request.instead_of) {
      return store::Rejected{.why = Errc::unsupported};
    }
    Lock& lock = locks_[request.name];
    if (held(lock) && lock.owner != request.owner) {
      const Duration left = left_until(lock.until, clock_.now());
      return store::Refused{.holder = lock.record,
                            .lease_left = left,
                            .retry_after = left,
                            .fence_counter = lock.counter};
    }
    if (!held(lock)) {
      lock.fence = lock.counter + 1;
      lock.spare = request.spare;
      lock.counter += 1 + request.spare;
      lock.owner = request.owner;
      lock.record = request.record;
    }
    lock.until = later(clock_.now(), request.lease);
    return store::Granted{.fence = lock.fence, .spare = lock.spare, .lease = request.lease};
  }

  store::RenewalReply renew(const store::Renewal& renewal) {
    Lock* lock = held_by(renewal);
    if (lock == nullptr) return store::Gone{};
    lock->until = later(clock_.now(), renewal.lease);
    return store::Renewed{.lease = renewal.lease};
  }

  bool release(const store::HoldKey& key) {
    Lock* lock = held_by(key);
    if (lock != nullptr) lock->fence = 0;
    return lock != nullptr;
  }

  bool withdraw(const store::ClaimKey& key) {
    Lock& lock = locks_[key.name];
    if (!held(lock) || lock.owner != key.owner) return false;
    lock.fence = 0;
    return true;
  }

 private:
  struct Lock {
    std::uint64_t counter = 0;
    std::uint64_t fence = 0;  // 0: free
    std::uint64_t spare = 0;
    store::OwnerId owner{};
    TimePoint until{};
    HolderRecord record{};
  };

  bool held(const Lock& lock) const { return lock.fence != 0 && clock_.now() < lock.until; }
  Lock* held_by(const store::HoldKey& key) {
    Lock& lock = locks_[key.name];
    return held(lock) && lock.owner == key.owner && lock.fence == key.fence ? &lock : nullptr;
  }

  const store::Clock& clock_;
  std::map<LockName, Lock> locks_;
};

// ---- the server ----

class ScriptedServer::Connection {
 public:
  Connection(int f, std::uint64_t s) : fd(f), serial(s) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(fd); }

  // Writes what the socket takes; with `chop` not even that, but a piece that ends anywhere.
  void flush(std::uint64_t chop) {
    while (!out.empty()) {
      const std::size_t piece = chop == 0 ? out.size() : std::min(out.size(), 1 + chop % 21);
      const ssize_t sent = ::send(fd, out.data(), piece, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) {
        open = errno == EAGAIN || errno == EWOULDBLOCK;
        return;
      }
      out.erase(0, static_cast<std::size_t>(sent));
      if (chop != 0) return;
    }
  }

  void receive() {
    std::array<char, 4096> bytes;
    const ssize_t got = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) in.append(bytes.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) open = false;
  }

  const int fd;
  const std::uint64_t serial;
  bool open = true;
  std::string in;
  std::string out;
  std::map<std::uint64_t, LockName> watches;
};

struct ScriptedServer::Kept {
  std::uint64_t connection;
  Letter letter;
};

ScriptedServer::ScriptedServer(const store::Clock& clock, ServerOptions options)
    : options_(std::move(options)),
      table_(std::make_unique<Table>(clock)),
      control_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      chance_(options_.seed * 2 + 1),
      thread_([this] { run(); }) {}

ScriptedServer::~ScriptedServer() {
  {
    std::unique_lock lock(mutex_);
    last_store_ended_.wait(lock, [this] { return stores_ == 0; });
    stopping_ = true;
  }
  ring(control_);
  thread_.join();
  connections_.clear();
  for (const int fd : arriving_) close(fd);
  close(control_);
}

void ScriptedServer::store_opens() {
  const std::lock_guard lock(mutex_);
  ++stores_;
}

// Told under the mutex: the server may be gone right after.
void ScriptedServer::store_ends() {
  const std::lock_guard lock(mutex_);
  --stores_;
  last_store_ended_.notify_all();
}

int ScriptedServer::connect() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::runtime_error("socketpair");
  }
  {
    const std::lock_guard lock(mutex_);
    arriving_.push_back(ends[0]);
  }
  ring(control_);
  return ends[1];
}

std::uint64_t ScriptedServer::put(Question question) {
  const std::lock_guard lock(mutex_);
  questions_.emplace(++last_number_, std::move(question));
  return last_number_;
}

ScriptedServer::Letter ScriptedServer::take(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  auto letter = letters_.extract(number);
  if (letter.empty()) throw std::logic_error("a letter that was never sent, or read twice");
  return std::move(letter.mapped());
}

void ScriptedServer::run() {
  std::uint64_t last_connection = 0;
  for (;;) {
    std::vector<pollfd> polled{{control_, POLLIN, 0}};
    for (const auto& each : connections_) {
      const int events = each->out.empty() ? POLLIN : POLLIN | POLLOUT;
      polled.push_back({each->fd, static_cast<short>(events), 0});
    }
    const timespec idle{0, static_cast<long>(std::chrono::nanoseconds(options_.idle).count())};
    const int ready = ppoll(polled.data(), polled.size(), kept_.empty() ? nullptr : &idle, nullptr);
    if (ready == 0 || kept_.size() >= options_.burst) send_kept();
    if (ready < 0) continue;  // EINTR

    if (polled[0].revents != 0) {
      quieten(control_);
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      for (const int fd : std::exchange(arriving_, {})) {
        connections_.push_back(std::make_unique<Connection>(fd, ++last_connection));
      }
    }
    for (std::size_t i = 1; i < polled.size(); ++i) {
      Connection& connection = *connections_[i - 1];
      if ((polled[i].revents & ~POLLOUT) != 0) serve(connection);
      if (!connection.out.empty()) connection.flush(options_.chop ? next_chance(chance_) | 1 : 0);
    }
    std::erase_if(connections_, [](const auto& each) { return !each->open; });
  }
}

void ScriptedServer::serve(Connection& connection) {
  connection.receive();
  for (const std::uint64_t number : take_numbers(connection.in)) {
    if (!connection.open) return;
    answer(connection, number);
  }
}

void ScriptedServer::answer(Connection& connection, std::uint64_t number) {
  std::optional<Question> question;
  {
    const std::lock_guard lock(mutex_);
    question = std::move(questions_.extract(number).mapped());
  }
  if (const auto* start = std::get_if<Subscribe>(&*question)) {
    connection.watches.emplace(start->watch, start->name);
    return;
  }
  if (const auto* stop = std::get_if<Unsubscribe>(&*question)) {
    connection.watches.erase(stop->watch);
    return;
  }

  Letter letter{.about = number};
  const LockName* name = nullptr;
  bool freed = false;
  if (const auto* request = std::get_if<store::GrantRequest>(&*question)) {
    name = &request->name;
    letter.reply = table_->grant(*request);
  } else if (const auto* batch = std::get_if<std::vector<store::Renewal>>(&*question)) {
    name = &batch->front().name;
    std::vector<store::RenewalReply> replies;
    for (const auto& each : *batch) replies.push_back(table_->renew(each));
    letter.reply = store::RenewReply(std::move(replies));
  } else if (const auto* release = std::get_if<Release>(&*question)) {
    name = &release->key.name;
    freed = table_->release(release->key);
    letter.reply =
        freed ? store::ReleaseReply(store::Released{}) : store::ReleaseReply(store::Gone{});
  } else if (const auto* withdraw = std::get_if<Withdraw>(&*question)) {
    name = &withdraw->key.name;
    freed = table_->withdraw(withdraw->key);
    letter.reply = store::WithdrawReply(store::Withdrawn{});
  }
  ++executed_;

  switch (options_.script ? options_.script(*name) : Fate::at_once) {
    case Fate::at_once:
      send(connection.serial, std::move(letter));
      break;
    case Fate::later:
      kept_.push_back({connection.serial, std::move(letter)});
      break;
    case Fate::never:
      break;
    case Fate::hang_up:
      connection.open = false;
      break;
  }
  if (freed) wake_watchers(*name);
}

void ScriptedServer::wake_watchers(const LockName& name) {
  for (const auto& connection : connections_) {
    for (const auto& [watch, watched] : connection->watches) {
      if (watched == name) send(connection->serial, {watch, store::Wake{}});
    }
  }
}

void ScriptedServer::send(std::uint64_t serial, Letter letter) {
  Connection* connection = find(serial);
  if (connection == nullptr || !connection->open) return;
  const std::lock_guard lock(mutex_);
  letters_.emplace(++last_number_, std::move(letter));
  append_number(connection->out, last_number_);
}

void ScriptedServer::send_kept() {
  for (std::size_t i = kept_.size(); i > 1; --i) {
    std::swap(kept_[i - 1], kept_[next_chance(chance_) % i]);
  }
  for (auto& each : std::exchange(kept_, {})) send(each.connection, std::move(each.letter));
  for (const auto& each : connections_) each->flush(0);
}

ScriptedServer::Connection* ScriptedServer::find(std::uint64_t serial) {
  const auto found = std::find_if(connections_.begin(), connections_.end(),
                                  [serial](const auto& each) { return each->serial == serial; });
  return found == connections_.end() ? nullptr : found->get();
}

// ---- the store: questions ----

// A question on its way. Destroyed unanswered, its Call says no_answer by itself.
struct ScriptedStore::Pending {
  virtual ~Pending() = default;
  virtual void answer(ScriptedServer::Reply) = 0;
};

template <class Answer>
struct ScriptedStore::PendingCall final : Pending {
  explicit PendingCall(store::Call<Answer> c) : call(std::move(c)) {}
  void answer(ScriptedServer::Reply reply) override {
    call.answer(std::get<Answer>(std::move(reply)));
  }
  store::Call<Answer> call;
};

ScriptedStore::ScriptedStore(ScriptedServer& server, runtime::EpollLoop& loop,
                             const store::Clock& clock)
    : server_(server),
      loop_(loop),
      clock_(clock),
      interrupt_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      fd_(server.connect()),
      role_(*this, clock) {
  server_.store_opens();
  role_.open();
}

ScriptedStore::~ScriptedStore() {
  close();
  ::close(fd_);
  ::close(interrupt_);
  server_.store_ends();
}

store::Capabilities ScriptedStore::capabilities() const { return {.mutex_any = true}; }

template <class Answer>
void ScriptedStore::ask(ScriptedServer::Question question, store::Call<Answer> call) {
  const std::uint64_t number = server_.put(std::move(question));
  {
    const std::lock_guard lock(mutex_);
    if (connected_) {
      pending_.emplace(number, std::make_unique<PendingCall<Answer>>(std::move(call)));
    }
  }
  if (call.open()) return call.answer(store::NoAnswer{.executed = false});
  send(number);  // if it fails, the reader finds the connection broken and answers
}

void ScriptedStore::try_grant(const store::GrantRequest& request,
                              store::Call<store::GrantReply> call) {
  ask(request, std::move(call));
}
void ScriptedStore::renew(std::span<const store::Renewal> renewals,
                          store::Call<store::RenewReply> call) {
  ask(std::vector<store::Renewal>(renewals.begin(), renewals.end()), std::move(call));
}
void ScriptedStore::release(const store::HoldKey& key, store::Call<store::ReleaseReply> call) {
  ask(ScriptedServer::Release{key}, std::move(call));
}
void ScriptedStore::withdraw(const store::ClaimKey& key, store::Call<store::WithdrawReply> call) {
  ask(ScriptedServer::Withdraw{key}, std::move(call));
}
void ScriptedStore::inspect(std::string_view, store::Call<store::InspectReply> call) {
  call.answer(store::Rejected{.why = Errc::unsupported});
}
void ScriptedStore::force_release(const store::ForceRequest&, store::Call<store::ForceReply> call) {
  call.answer(store::Rejected{.why = Errc::unsupported});
}

// The server always takes what we write, so this blocks only for a moment.
bool ScriptedStore::send(std::uint64_t number) {
  std::string bytes;
  append_number(bytes, number);
  const std::lock_guard lock(send_mutex_);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

// ---- the store: watches ----

class ScriptedStore::Subscription final : public store::Watch {
 public:
  Subscription(ScriptedStore& store, std::uint64_t id) : store_(store), id_(id) {}
  ~Subscription() override { store_.unwatch(id_); }

 private:
  ScriptedStore& store_;
  const std::uint64_t id_;
};

store::WatchPtr ScriptedStore::watch(const store::ClaimKey& key, store::WakeFn wake) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_watch_;
    watches_.emplace(id, Watched{key.name, std::make_shared<const store::WakeFn>(std::move(wake))});
  }
  send(server_.put(ScriptedServer::Subscribe{key.name, id}));
  return std::make_unique<Subscription>(*this, id);
}

void ScriptedStore::unwatch(std::uint64_t id) {
  {
    const std::lock_guard lock(mutex_);
    watches_.erase(id);
    if (!connected_) return;
  }
  send(server_.put(ScriptedServer::Unsubscribe{id}));
}

// ---- the store: reading ----

bool ScriptedStore::drive(const std::shared_ptr<store::BlockedCaller>& caller) {
  return role_.drive(caller);
}

void ScriptedStore::interrupt(const store::BlockedCaller& caller) { role_.interrupt(caller); }

void ScriptedStore::interrupt() { ring(interrupt_); }

void ScriptedStore::let_loop_watch(bool on) { loop_.watch_fd(fd_, on ? POLLIN : 0, this); }

void ScriptedStore::on_ready(std::uint32_t) { role_.loop_turn(); }

bool ScriptedStore::read_once(TimePoint until) {
  ++(loop_.on_loop_thread() ? reads_by_the_loop_ : reads_by_callers_);
  std::array<pollfd, 2> polled{{{fd_, POLLIN, 0}, {interrupt_, POLLIN, 0}}};
  const Duration left = left_until(until, clock_.now());
  const timespec sleep{static_cast<time_t>(left / std::chrono::seconds(1)),
                       static_cast<long>((left % std::chrono::seconds(1)).count())};
  if (ppoll(polled.data(), polled.size(), until == kNever ? nullptr : &sleep, nullptr) <= 0) {
    return true;
  }
  if (polled[1].revents != 0) quieten(interrupt_);
  if (polled[0].revents == 0 || read_input()) return true;
  fail_open_questions();
  return false;
}

bool ScriptedStore::read_input() {
  std::array<char, 4096> bytes;
  const ssize_t got = recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  input_.append(bytes.data(), static_cast<std::size_t>(got));
  for (const std::uint64_t number : take_numbers(input_)) deliver(number);
  return true;
}

void ScriptedStore::deliver(std::uint64_t number) {
  ScriptedServer::Letter letter = server_.take(number);
  std::unique_ptr<Pending> question;
  std::shared_ptr<const store::WakeFn> wake;
  {
    const std::lock_guard lock(mutex_);
    if (std::holds_alternative<store::Wake>(letter.reply)) {
      const auto watched = watches_.find(letter.about);
      if (watched != watches_.end()) wake = watched->second.wake;
    } else if (auto asked = pending_.extract(letter.about)) {
      question = std::move(asked.mapped());
    }
  }
  if (wake) (*wake)(std::get<store::Wake>(letter.reply));
  if (question) question->answer(std::move(letter.reply));
}

void ScriptedStore::fail_open_questions() {
  std::map<std::uint64_t, std::unique_ptr<Pending>> open;  // answered outside the mutex
  const std::lock_guard lock(mutex_);
  connected_ = false;
  open.swap(pending_);
}

// ---- the store: connections ----

void ScriptedStore::ended() {
  loop_.post([this, life = std::weak_ptr(life_)] {
    if (!life.expired()) connect_again();
  });
}

void ScriptedStore::connect_again() {
  {
    const std::lock_guard lock(send_mutex_);
    ::close(fd_);
    fd_ = server_.connect();
  }
  input_.clear();
  std::map<std::uint64_t, Watched> watched;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    connected_ = true;
    watched = watches_;
  }
  role_.open();
  for (const auto& [id, each] : watched) {
    send(server_.put(ScriptedServer::Subscribe{each.name, id}));
    (*each.wake)(store::Wake{});  // what happened meanwhile is not known
  }
}

void ScriptedStore::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  role_.shut();
  fail_open_questions();
  wait_for_the_loop();
  life_.reset();
}

// Lets the loop finish what it has begun for this store. On the loop itself there is nothing to
// wait for; a loop that has stopped drops the task, and with it the promise.
void ScriptedStore::wait_for_the_loop() {
  if (loop_.on_loop_thread()) return;
  std::promise<void> passed;
  const auto done = passed.get_future();
  loop_.post([promise = std::move(passed)]() mutable { promise.set_value(); });
  done.wait();
}

}  // namespace holdfast::test
