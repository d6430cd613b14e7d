// The connection that all callers of a client share, when it lacks memory: the stream may be given up for it, but
// there is another one soon, and every question is answered or fails. The server repeats what it hears, byte for
// byte, each of which is a question; at an h it hangs up.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "failing_memory/each_request.hpp"
#include "failing_memory/failing_memory.hpp"
#include "holdfast/store/random.hpp"
#include "runtime/boot_clock.hpp"
#include "runtime/epoll_loop.hpp"
#include "support/effort.hpp"
#include "support/soon.hpp"
#include "transport/shared_connection.hpp"
#include "transport/socket_io.hpp"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::FailingMemory;
using test::with_each_request_failing;

// Where memory is missing once, for what needs none in this test, or not always the same number of times.
struct Lacking {
  std::atomic<bool> to_write{false}, to_read{false}, to_begin{false}, to_answer{false};
};

void lack_once(std::atomic<bool>& now) {
  if (now.exchange(false)) throw std::bad_alloc();
}

class ForgetfulStream final : public Stream {
 public:
  ForgetfulStream(Fd fd, Lacking& lacking) : Stream(std::move(fd)), lacking_(lacking) {}
  Went read(std::string& into) override {
    const Went how = receive_some(fd(), into);
    if (how == Went::well) lack_once(lacking_.to_read);
    return how;
  }
  Went write(std::string& from) override {
    lack_once(lacking_.to_write);
    return send_some(fd(), from);
  }

 private:
  Lacking& lacking_;
};

// What became of questions.
struct Outcomes {
  std::atomic<int> answered{0}, failed{0};
  int all() const { return answered + failed; }
};

class Question final : public Asker {
 public:
  Question(TimePoint deadline, bool waits, Outcomes& outcomes)
      : Asker(deadline, waits), outcomes_(outcomes) {}
  void answered() { ++outcomes_.answered; }
  void failed(store::NoAnswer) override { ++outcomes_.failed; }

 private:
  Outcomes& outcomes_;
};

class Bytes final : public Language {
 public:
  explicit Bytes(Lacking& lacking) : lacking_(lacking) {}

  std::string begun(std::uint64_t) override {
    lack_once(lacking_.to_begin);
    left_ = 0;
    return "";
  }
  void feed(std::string_view bytes) override { left_ += bytes.size(); }
  Next next() override {
    if (left_ == 0) return Next::nothing_yet;
    --left_;
    return Next::answer;
  }
  bool answer(Asker& asker) override {
    lack_once(lacking_.to_answer);
    static_cast<Question&>(asker).answered();
    return true;
  }
  std::string server() const override { return "a server with a name that needs memory"; }
  std::string_view name() const override { return "bytes"; }

 private:
  Lacking& lacking_;
  std::size_t left_ = 0;
};

class Server {
 public:
  ~Server() { hang_up(); }

  std::unique_ptr<Stream> dial(Lacking& lacking) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
    Fd near(ends[0]);
    auto far = std::make_shared<Fd>(ends[1]);
    std::thread([far] { repeat(*far); }).detach();
    const std::lock_guard lock(mutex_);
    far_ = std::move(far);
    return std::make_unique<ForgetfulStream>(std::move(near), lacking);
  }
  void hang_up() const {
    const std::lock_guard lock(mutex_);
    ::shutdown(far_->get(), SHUT_RDWR);
  }

 private:
  static void repeat(const Fd& fd) {
    char byte = 0;
    while (::recv(fd.get(), &byte, 1, 0) == 1 && byte != 'h') {
      ::send(fd.get(), &byte, 1, MSG_NOSIGNAL);
    }
    ::shutdown(fd.get(), SHUT_RDWR);
  }

  mutable std::mutex mutex_;
  std::shared_ptr<Fd> far_;
};

// Nobody waits longer than needed before the next attempt.
class NoChance final : public store::Random {
 public:
  std::uint64_t next() override { return 0; }
};

// A thread that waits until its question has come to something.
class Waiting final : public store::BlockedCaller {
 public:
  explicit Waiting(const Outcomes& outcomes) : outcomes_(outcomes) {}
  bool done() const override { return outcomes_.all() > 0; }
  TimePoint until() const override { return kNever; }
  void nudge() override {}

 private:
  const Outcomes& outcomes_;
};

// The parameter: whether the server may say something that nobody asked for.
class SharedConnectionMemory : public testing::TestWithParam<bool> {
 protected:
  SharedConnectionMemory() { connection_->begin(server_.dial(lacking_)); }
  ~SharedConnectionMemory() override {
    connection_->close();
    redialler_.stop();
  }

  void ask(Outcomes& outcomes, const char* what = "x", bool waits = false) {
    std::unique_ptr<Asker> asker =
        std::make_unique<Question>(later(clock_.now(), 1s), waits, outcomes);
    connection_->ask(what, std::span(&asker, 1));
  }
  bool comes_to_something(const Outcomes& outcomes) {
    return eventually([&] { return outcomes.all() > 0; });
  }
  bool is_answered() {
    Outcomes outcomes;
    ask(outcomes);
    return comes_to_something(outcomes) && outcomes.answered == 1;
  }
  bool comes_back() {
    return eventually([&] { return is_answered(); });
  }

  // Asks, and reads the answer on this thread, since the loop has no time. Says whether a request failed.
  bool lacks_memory_while_it_reads(const char* question, int n, int in_a_row) {
    EXPECT_TRUE(comes_back());
    const test::Signal loop_waits, go_on;
    loop_->post([=] {
      loop_waits.give();
      go_on.comes();
    });
    EXPECT_TRUE(loop_waits.comes());
    Outcomes outcomes;
    ask(outcomes, question, true);
    const auto waiting = std::make_shared<Waiting>(outcomes);
    FailingMemory memory(n, FailingMemory::Whose::this_thread, in_a_row);
    EXPECT_NO_THROW(connection_->drive(waiting));
    memory.stop();
    go_on.give();
    EXPECT_TRUE(comes_to_something(outcomes)) << "request " << n << ", in a row: " << in_a_row;
    return memory.failed();
  }

  Lacking lacking_;
  Server server_;
  Bytes language_{lacking_};
  const runtime::BootClock clock_;
  const std::unique_ptr<runtime::EpollLoop> loop_ = *runtime::EpollLoop::start();
  NoChance random_;
  Redialler redialler_{{.dial = [this](TimePoint, int) -> Result<std::unique_ptr<Stream>> {
                          return server_.dial(lacking_);
                        },
                        .within = 1s,
                        .clock = clock_,
                        .loop = *loop_,
                        .random = random_}};
  std::unique_ptr<SharedConnection> connection_ =
      std::make_unique<SharedConnection>(SharedConnection::Parts{.language = language_,
                                                                 .clock = clock_,
                                                                 .loop = *loop_,
                                                                 .redialler = redialler_,
                                                                 .hears_unasked = GetParam()});
};

TEST_P(SharedConnectionMemory, WhatCannotBeWrittenFailsAndTheNextQuestionIsAnswered_F044) {
  ASSERT_TRUE(is_answered());
  lacking_.to_write = true;
  Outcomes outcomes;
  EXPECT_NO_THROW(ask(outcomes));
  EXPECT_TRUE(comes_to_something(outcomes));
  EXPECT_EQ(outcomes.failed, 1);
  EXPECT_TRUE(comes_back());
}

TEST_P(SharedConnectionMemory, WhatCannotBeReadFailsAndTheNextQuestionIsAnswered_F044) {
  lacking_.to_read = true;
  Outcomes outcomes;
  ask(outcomes);
  EXPECT_TRUE(comes_to_something(outcomes));
  EXPECT_EQ(outcomes.failed, 1);
  EXPECT_TRUE(comes_back());
}

TEST_P(SharedConnectionMemory, WhatCannotBeAnsweredFailsOnce_F044) {
  lacking_.to_answer = true;
  Outcomes outcomes;
  ask(outcomes);
  EXPECT_TRUE(comes_to_something(outcomes));
  EXPECT_TRUE(comes_back());
  EXPECT_EQ(outcomes.failed, 1);
  EXPECT_EQ(outcomes.answered, 0);
}

TEST_P(SharedConnectionMemory, AStreamThatCannotBeginIsFollowedByAnother_F044) {
  lacking_.to_begin = true;
  server_.hang_up();
  EXPECT_TRUE(comes_back());
  EXPECT_FALSE(lacking_.to_begin);
}

TEST_P(SharedConnectionMemory, AStreamThatBrokeIsReplacedThoughTheLoopLacksMemory_F044) {
  test::with_each_request_of_loop_failing(*loop_, [this] {
    server_.hang_up();
    EXPECT_TRUE(eventually([&] { return !is_answered(); }));
    EXPECT_TRUE(comes_back());
  });
}

TEST_P(SharedConnectionMemory, WhoeverHasReadItsAnswerMayLackMemory_F044) {
  const int at_least = GetParam() ? 1 : 0;  // a timer may be set already
  with_each_request_failing(
      [this](int n, int in_a_row) { return lacks_memory_while_it_reads("x", n, in_a_row); },
      at_least);
}

TEST_P(SharedConnectionMemory, WhoeverReadsTheEndOfAStreamMayLackMemory_F044) {
  with_each_request_failing(
      [this](int n, int in_a_row) { return lacks_memory_while_it_reads("h", n, in_a_row); });
}

TEST_P(SharedConnectionMemory, ClosingEndsAllThatIsOpen_F044) {
  if (test::kSanitized) GTEST_SKIP() << "with a sanitizer there are other requests";
  bool failed = true;
  for (int n = 1; failed && !HasFailure(); ++n) {
    SharedConnection connection({.language = language_,
                                 .clock = clock_,
                                 .loop = *loop_,
                                 .redialler = redialler_,
                                 .hears_unasked = GetParam()});
    Outcomes outcomes;
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const Fd silent(ends[1]);
    connection.begin(plain_stream(Fd(ends[0])));
    std::unique_ptr<Asker> asker = std::make_unique<Question>(kNever, false, outcomes);
    connection.ask("x", std::span(&asker, 1));
    FailingMemory memory(n);
    EXPECT_NO_THROW(connection.close());
    memory.stop();
    failed = memory.failed();
    EXPECT_EQ(outcomes.failed, 1) << "request " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, SharedConnectionMemory, testing::Bool(), [](const auto& hears) {
  return hears.param ? "ThatSpeakUnasked" : "ThatAnswerOnly";
});

}  // namespace
}  // namespace holdfast::transport
