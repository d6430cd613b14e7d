// A store behind a socket, for tests of everything that has to do with threads: who reads, who
// sleeps, who is woken. The server is a thread that answers when and in the order that a script
// wants.
//
//   ScriptedServer server(clock, {.script = random_fates(1, {.later = 50})});
//   ScriptedStore store(server, loop, clock);
//
// What goes over the socket are numbers of eight bytes; what they stand for waits in the server's
// letter box. So there is something to poll, to cut in pieces and to hang up on, and nothing to
// encode.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "holdfast/store/store.hpp"
#include "runtime/epoll_loop.hpp"
#include "transport/read_role.hpp"

namespace holdfast::test {

// What the server does with a question.
enum class Fate : std::uint8_t {
  at_once,  // executes and answers it
  later,    // executes it; the answer leaves with others, in any order
  never,    // executes it; the answer is lost
  hang_up,  // executes it and closes the connection
};

// Decides on the server's thread. `name` is the lock's, or the first one's of a batch.
using Script = std::function<Fate(const store::LockName& name)>;

// A script by chance: so many of a thousand questions meet with each fate, the others at_once.
struct Odds {
  unsigned later = 0;
  unsigned never = 0;
  unsigned hang_up = 0;
};
Script random_fates(std::uint64_t seed, Odds);

struct ServerOptions {
  Script script{};                      // none: everything at once
  std::size_t burst = 8;                // `later` ends when so many answers are kept …
  std::chrono::microseconds idle{300};  // … or nothing was asked for this long
  bool chop = true;                     // writes end in the middle of a number
  std::uint64_t seed = 1;               // of shuffling and chopping
};

// The server: a lock table of exclusive mutexes, in the order in which the questions arrive.
//
// Lifetime     Outlives its stores: the destructor waits for the last of them, which may be one that a
//              client ends on a thread of its own.
// Threads      All members from any thread; one of its own.
class ScriptedServer {
 public:
  explicit ScriptedServer(const store::Clock&, ServerOptions = {});
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer();

  std::uint64_t executed() const { return executed_; }

  // --- for ScriptedStore ---
  struct Release {
    store::HoldKey key;
  };
  struct Withdraw {
    store::ClaimKey key;
  };
  struct Subscribe {
    store::LockName name;
    std::uint64_t watch = 0;
  };
  struct Unsubscribe {
    std::uint64_t watch = 0;
  };
  using Question = std::variant<store::GrantRequest, std::vector<store::Renewal>, Release, Withdraw,
                                Subscribe, Unsubscribe>;
  using Reply = std::variant<std::monostate, store::GrantReply, store::RenewReply,
                             store::ReleaseReply, store::WithdrawReply, store::Wake>;
  struct Letter {
    std::uint64_t about = 0;  // the question, or the watch
    Reply reply{};
  };

  void store_opens();
  void store_ends();
  int connect();  // the client's end of a new connection
  std::uint64_t put(Question);
  Letter take(std::uint64_t number);

 private:
  class Table;
  class Connection;
  struct Kept;

  void run();
  void serve(Connection&);
  void answer(Connection&, std::uint64_t question);
  void wake_watchers(const store::LockName&);
  void send(std::uint64_t connection, Letter);
  void send_kept();
  Connection* find(std::uint64_t serial);

  const ServerOptions options_;
  const std::unique_ptr<Table> table_;
  const int control_;  // eventfd: look at what is below
  std::atomic<std::uint64_t> executed_{0};

  std::mutex mutex_;
  int stores_ = 0;
  std::condition_variable last_store_ended_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Question> questions_;
  std::map<std::uint64_t, Letter> letters_;
  std::vector<int> arriving_;
  bool stopping_ = false;

  // Only the thread's.
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Kept> kept_;
  std::uint64_t chance_;

  std::thread thread_;
};

// One client of a ScriptedServer, over one socket that all its callers share. It connects again
// after the server hung up.
//
// Threads      As Store says. close() from any thread but a reading one.
// Lifetime     The loop outlives it; its watches do not.
class ScriptedStore final : public store::Store,
                            transport::ReadRole::Connection,
                            store::Loop::Ready {
 public:
  ScriptedStore(ScriptedServer&, runtime::EpollLoop&, const store::Clock&);
  ~ScriptedStore() override;

  store::Capabilities capabilities() const override;
  void try_grant(const store::GrantRequest&, store::Call<store::GrantReply>) override;
  void renew(std::span<const store::Renewal>, store::Call<store::RenewReply>) override;
  void release(const store::HoldKey&, store::Call<store::ReleaseReply>) override;
  void withdraw(const store::ClaimKey&, store::Call<store::WithdrawReply>) override;
  store::WatchPtr watch(const store::ClaimKey&, store::WakeFn) override;
  void inspect(std::string_view pattern, store::Call<store::InspectReply>) override;
  void force_release(const store::ForceRequest&, store::Call<store::ForceReply>) override;
  bool drive(const std::shared_ptr<store::BlockedCaller>&) override;
  void close() override;

  // A caller is done by another route than an answer of this store: see ReadRole.
  void interrupt(const store::BlockedCaller&) override;

  // How often somebody came to read.
  std::uint64_t reads_by_callers() const { return reads_by_callers_; }
  std::uint64_t reads_by_the_loop() const { return reads_by_the_loop_; }

 private:
  struct Pending;
  template <class Answer>
  struct PendingCall;
  class Subscription;
  struct Watched {
    store::LockName name;
    std::shared_ptr<const store::WakeFn> wake;
  };

  bool read_once(TimePoint until) override;
  void interrupt() override;
  void let_loop_watch(bool on) override;
  void ended() override;
  void on_ready(std::uint32_t events) override;

  template <class Answer>
  void ask(ScriptedServer::Question, store::Call<Answer>);
  bool send(std::uint64_t number);
  bool read_input();
  void deliver(std::uint64_t number);
  void fail_open_questions();
  void connect_again();
  void unwatch(std::uint64_t);
  void wait_for_the_loop();

  ScriptedServer& server_;
  runtime::EpollLoop& loop_;
  const store::Clock& clock_;
  const int interrupt_;  // eventfd
  std::string input_;    // only the reader's
  std::shared_ptr<int> life_ =
      std::make_shared<int>(0);  // tasks on the loop look whether it is there
  std::atomic<std::uint64_t> reads_by_callers_{0};
  std::atomic<std::uint64_t> reads_by_the_loop_{0};

  std::mutex send_mutex_;
  int fd_;  // changed under send_mutex_ while nobody reads

  std::mutex mutex_;
  bool connected_ = true;
  bool closed_ = false;
  std::map<std::uint64_t, std::unique_ptr<Pending>> pending_;
  std::map<std::uint64_t, Watched> watches_;
  std::uint64_t last_watch_ = 0;

  transport::ReadRole role_;
};

}  // namespace holdfast::test
