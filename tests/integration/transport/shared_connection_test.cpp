// The connection that all callers of a client share, with a language of lines: an answer repeats its question,
// and what begins with ! nobody asked for.
#include "transport/shared_connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/boot_clock.hpp"
#include "runtime/epoll_loop.hpp"
#include "support/hand_loop.hpp"
#include "support/seeded_random.hpp"
#include "support/soon.hpp"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using testing::ElementsAre;
using testing::HasSubstr;

// What happened, in its order.
class Diary {
 public:
  void note(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  bool soon_has(std::size_t count) const {
    return eventually([&] { return lines().size() >= count; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

class Question final : public Asker {
 public:
  Question(std::string text, Diary& diary) : Asker(kNever), text_(std::move(text)), diary_(diary) {}
  const std::string& text() const { return text_; }
  void answered() { diary_.note(text_ + " answered"); }
  void failed(store::NoAnswer no) override {
    diary_.note(text_ + (no.executed ? " perhaps: " : " not asked: ") + no.text);
  }

 private:
  const std::string text_;
  Diary& diary_;
};

class Lines final : public Language {
 public:
  explicit Lines(Diary& diary) : diary_(diary) {}

  bool greets = false;

 private:
  std::string begun(std::uint64_t stream) override {
    buffer_.clear();
    return greets ? "hello " + std::to_string(stream) + "\n" : "";
  }
  void feed(std::string_view bytes) override { buffer_ += bytes; }
  Next next() override {
    for (auto end = buffer_.find('\n'); end != std::string::npos; end = buffer_.find('\n')) {
      line_ = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      if (line_ == "?") return Next::broken;
      if (!line_.starts_with('!')) return Next::answer;
      diary_.note("heard " + line_);
    }
    return Next::nothing_yet;
  }
  bool answer(Asker& asker) override {
    auto& question = static_cast<Question&>(asker);
    if (question.text() != line_) return false;
    question.answered();
    return true;
  }
  void ended() override { diary_.note("ended"); }
  std::string server() const override { return "far"; }
  std::string_view name() const override { return "lines"; }

  Diary& diary_;
  std::string buffer_;
  std::string line_;
};

// The other end of a stream.
class Far {
 public:
  explicit Far(Fd fd) : fd_(std::move(fd)) {}

  void say(std::string_view text) const {
    ASSERT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // The next line that comes; empty at the end.
  std::string hear() const {
    std::string line;
    char next = 0;
    while (::recv(fd_.get(), &next, 1, 0) == 1 && next != '\n') line += next;
    return line;
  }

 private:
  Fd fd_;
};

// Dials pairs of sockets, and keeps the far ends for the test.
class Exchange {
 public:
  std::unique_ptr<Stream> dial() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw std::runtime_error("no sockets");
    }
    const std::lock_guard lock(mutex_);
    far_.emplace(Fd(ends[1]));
    came_.notify_all();
    return plain_stream(Fd(ends[0]));
  }
  Far take() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, test::kSoon, [&] { return !far_.empty(); })) {
      throw std::runtime_error("nobody dialled");
    }
    Far far = std::move(far_.front());
    far_.pop();
    return far;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::queue<Far> far_;
};

class SharedConnections : public testing::Test {
 protected:
  ~SharedConnections() override {
    connection_.close();
    redialler_.stop();
  }

  Far begin() {
    connection_.begin(exchange_.dial());
    return exchange_.take();
  }
  void ask(const std::vector<std::string>& questions,
           std::uint64_t over = SharedConnection::kAnyStream) {
    std::string bytes;
    std::vector<std::unique_ptr<Asker>> askers;
    for (const std::string& each : questions) {
      bytes += each + "\n";
      askers.push_back(std::make_unique<Question>(each, diary_));
    }
    connection_.ask(std::move(bytes), askers, over);
  }

  Diary diary_;
  Lines language_{diary_};
  Exchange exchange_;
  const runtime::BootClock clock_;
  const std::unique_ptr<runtime::EpollLoop> loop_ = *runtime::EpollLoop::start();
  test::SeededRandom random_{1};
  Redialler redialler_{{.dial = [this](TimePoint, int) -> Result<std::unique_ptr<Stream>> {
                          return exchange_.dial();
                        },
                        .within = 1s,
                        .clock = clock_,
                        .loop = *loop_,
                        .random = random_}};
  SharedConnection connection_{{.language = language_,
                                .clock = clock_,
                                .loop = *loop_,
                                .redialler = redialler_,
                                .hears_unasked = true}};
};

TEST_F(SharedConnections, WhatIsAskedTogetherLeavesTogetherAndIsAnsweredInOrder) {
  const Far far = begin();
  ask({"a", "b"});
  ask({"c"});
  for (const char* each : {"a", "b", "c"}) EXPECT_EQ(far.hear(), each);
  far.say("a\nb\nc\n");
  ASSERT_TRUE(diary_.soon_has(3));
  EXPECT_THAT(diary_.lines(), ElementsAre("a answered", "b answered", "c answered"));
}

TEST_F(SharedConnections, BeforeThereIsAStreamNothingIsAsked) {
  ask({"a", "b"});
  EXPECT_THAT(diary_.lines(), ElementsAre(HasSubstr("a not asked"), HasSubstr("b not asked")));
}

TEST_F(SharedConnections, WhatNobodyAskedForIsHeard) {
  const Far far = begin();
  far.say("!first\n");
  ASSERT_TRUE(diary_.soon_has(1));
  ask({"a"});
  EXPECT_EQ(far.hear(), "a");
  far.say("!second\na\n!third\n");
  ASSERT_TRUE(diary_.soon_has(4));
  EXPECT_THAT(diary_.lines(),
              ElementsAre("heard !first", "heard !second", "a answered", "heard !third"));
}

TEST_F(SharedConnections, TheFirstWordsOfAStreamGoBeforeAnyQuestion) {
  language_.greets = true;
  std::atomic<bool> enough = false;
  std::jthread impatient([&] {
    while (!enough) {
      ask({"a"});
      std::this_thread::sleep_for(10us);
    }
  });
  for (int stream = 1; stream <= 5; ++stream) {
    const Far far = stream == 1 ? begin() : exchange_.take();
    EXPECT_EQ(far.hear(), "hello " + std::to_string(stream));
    EXPECT_EQ(far.hear(), "a");
  }
  enough = true;
}

TEST_F(SharedConnections, TheEndIsToldBeforeTheQuestionsFail) {
  {
    const Far far = begin();
    ask({"a", "b"});
    EXPECT_EQ(far.hear(), "a");
  }
  const Far next = exchange_.take();
  ASSERT_TRUE(diary_.soon_has(3));
  EXPECT_THAT(diary_.lines(), ElementsAre("ended", "a perhaps: the connection to far broke",
                                          "b perhaps: the connection to far broke"));
}

TEST_F(SharedConnections, AnAnswerToAnotherQuestionEndsTheStream) {
  const Far far = begin();
  ask({"a", "b"});
  far.say("b\n");
  const Far next = exchange_.take();
  ASSERT_TRUE(diary_.soon_has(3));
  EXPECT_THAT(diary_.lines(),
              ElementsAre("a perhaps: what came from far is not the language of lines", "ended",
                          "b perhaps: what came from far is not the language of lines"));
}

TEST_F(SharedConnections, AnAnswerThatNobodyWaitsForEndsTheStream) {
  const Far far = begin();
  far.say("a\n");
  const Far next = exchange_.take();
  EXPECT_THAT(diary_.lines(), ElementsAre("ended"));
}

TEST_F(SharedConnections, WhoHangsUpGetsAnotherStream) {
  const Far far = begin();
  ask({"a"});
  connection_.hang_up();
  const Far next = exchange_.take();
  ASSERT_TRUE(diary_.soon_has(2));
  EXPECT_THAT(diary_.lines(), ElementsAre("ended", HasSubstr("a perhaps")));
}

TEST_F(SharedConnections, AQuestionForAnEarlierStreamIsNotAsked) {
  language_.greets = true;  // so that the far end hears when there is one
  { const Far far = begin(); }
  const Far next = exchange_.take();
  EXPECT_EQ(next.hear(), "hello 2");
  ask({"a"}, 1);
  EXPECT_THAT(diary_.lines(), ElementsAre("ended", HasSubstr("a not asked")));
  ask({"b"}, 2);
  EXPECT_EQ(next.hear(), "b");
}

// --- over a stream that takes what it is told to ---

struct Written {
  std::string bytes;
  int calls = 0;
};

// As TLS does: all that it is given is its own from then on, and not all of it is out yet.
class SlowStream final : public Stream {
 public:
  explicit SlowStream(Written& written)
      : Stream(Fd(::eventfd(0, EFD_CLOEXEC))), written_(written) {}
  Went read(std::string&) override { return Went::again; }
  Went write(std::string& from) override {
    written_.bytes += std::exchange(from, {});
    return ++written_.calls < 3 ? Went::again : Went::well;
  }

 private:
  Written& written_;
};

TEST(SharedConnection, WhatAStreamHasTakenAndNotSentIsSentLater) {
  const runtime::BootClock clock;
  test::HandLoop loop;
  test::SeededRandom random(1);
  Redialler redialler({.dial = [](TimePoint, int) -> Result<std::unique_ptr<Stream>> {
                         return Error(Errc::unavailable);
                       },
                       .within = 1s,
                       .clock = clock,
                       .loop = loop,
                       .random = random});
  Diary diary;
  Lines language(diary);
  Written written;
  SharedConnection connection(
      {.language = language, .clock = clock, .loop = loop, .redialler = redialler});
  connection.begin(std::make_unique<SlowStream>(written));
  std::unique_ptr<Asker> asker = std::make_unique<Question>("a", diary);
  connection.ask("a\n", {&asker, 1});
  EXPECT_EQ(written.calls, 1);
  for (int i = 0; i < 20; ++i) loop.run_one(later(clock.now(), 100ms));
  EXPECT_EQ(written.calls, 3) << "until all of it is out, and not longer";
  EXPECT_EQ(written.bytes, "a\n");
  loop.stop();
}

}  // namespace
}  // namespace holdfast::transport
