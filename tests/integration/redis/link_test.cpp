// What lies between a client and a Redis server: answers that are lost, late, cut in pieces or spoiled, and
// connections that break or fall silent.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <set>

#include "integration/redis/redis_test.hpp"
#include "runtime/boot_clock.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/rights.hpp"
#include "support/temp_folder.hpp"
#include "support/tls/test_authority.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

constexpr Proxy::Number kFirst = 1;  // connection of a client: that of its questions

class RedisLink : public RedisTest {
 protected:
  // What the first connection says from now on arrives nowhere; other connections are well.
  void cut_first(Way way) { proxy().set(way, {.drop = true}, kFirst); }
};

// ---- the answer to an acquire ----

TEST_F(RedisLink, AnAnswerThatIsLostIsGivenOnceMore_F001) {
  const Client client = open();
  cut_first(Way::to_client);
  auto pending = client.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_be_held()) << "the server has granted it, nobody was told";
  const std::uint64_t granted = fence_in_store();
  auto hold = std::move(pending).get();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(hold->fence().value(), granted) << "the very same grant";
  EXPECT_GE(proxy().connections(), 2U);
  EXPECT_TRUE(hold->release());
  EXPECT_TRUE(is_empty());
}

TEST_F(RedisLink, AGrantThatNobodyHearsOfIsUnknownAndTakenBack_F001) {
  const Client client = open(1s);
  cut(Way::to_client);
  auto pending = client.mutex("lock").async_acquire({.wait = 0s, .lease = 1h});
  ASSERT_TRUE(comes_to_be_held());
  cut(Way::to_server);
  EXPECT_TRUE(fails_with(Errc::unknown, std::move(pending).get()));
  EXPECT_NE(fence_in_store(), 0U);
  mend();
  EXPECT_TRUE(comes_to_be_empty()) << "long before its lease is over";
}

TEST_F(RedisLink, AConnectionThatBreaksBeforeTheAnswerIsReplaced_F002) {
  const Client client = open(10s);
  proxy().hold(Way::to_client);
  auto pending = client.mutex("lock").async_acquire();
  ASSERT_TRUE(comes_to_be_held());
  const std::uint64_t granted = fence_in_store();
  proxy().reset();
  proxy().release(Way::to_client);
  const auto hold = std::move(pending).get();
  ASSERT_TRUE(hold) << hold.error().text();
  EXPECT_EQ(hold->fence().value(), granted);
}

TEST_F(RedisLink, AQuestionThatIsLostIsNoAnswerInTimeAndLeavesNothing_F003) {
  const Client client = open();
  cut(Way::to_server);
  const Stopwatch watch;
  const auto result = client.mutex("lock").acquire({.wait = 500ms});
  EXPECT_TRUE(is_no_answer(result));
  EXPECT_LT(watch.elapsed(), 3s);
  EXPECT_TRUE(is_empty());
  mend();
  EXPECT_TRUE(client.mutex("lock").acquire({.wait = kSoon}));
}

TEST_F(RedisLink, ALateGrantMakesNobodyAHolder_F004) {
  const Client client = open();
  proxy().hold(Way::to_server);
  const auto result = client.mutex("lock").acquire({.wait = 300ms, .lease = 1h});
  EXPECT_TRUE(is_no_answer(result));
  EXPECT_TRUE(is_empty());
  const std::uint64_t before = proxy().traffic(Way::to_client).passed;
  proxy().release(Way::to_server);
  EXPECT_TRUE(eventually([&] { return proxy().traffic(Way::to_client).passed > before; }));
  EXPECT_TRUE(comes_to_be_empty());
  const auto other = open_direct().mutex("lock").acquire({.wait = kSoon});
  EXPECT_TRUE(other);
}

// ---- renewals ----

TEST_F(RedisLink, AVanishedHostIsNoticedWithinAThirdOfTheLease_F005_F009_F014) {
  const Client client = open(500ms);
  const auto hold = client.mutex("lock").acquire({.lease = 9s}).value();
  const TimePoint first = hold.valid_until();
  std::this_thread::sleep_for(2500ms);  // a renewal leaves after three seconds
  for (const Way way : kBothWays) cut_first(way);
  ASSERT_TRUE(proxy().until_came(Way::to_server, proxy().traffic(Way::to_server).came + 1));
  EXPECT_EQ(hold.valid_until(), first) << "a renewal counts when it is confirmed";
  const Stopwatch silence;
  EXPECT_TRUE(eventually([&] { return hold.valid_until() > first; }));
  EXPECT_LT(silence.elapsed(), 3s);
  EXPECT_FALSE(is_lost(hold));
  const TimePoint second = hold.valid_until();
  EXPECT_TRUE(eventually([&] { return hold.valid_until() > second; })) << "and on it goes";
}

TEST_F(RedisLink, ARenewalThatIsConfirmedTooLateRevivesNothing_F006) {
  const Client client = open();
  const auto hold = client.mutex("lock").acquire({.lease = 600ms}).value();
  proxy().hold(Way::to_client);
  ASSERT_TRUE(comes_to_be_lost(hold));
  proxy().release(Way::to_client);
  EXPECT_TRUE(comes_to_be_empty()) << "what the server still has is given back";
  EXPECT_FALSE(hold.valid());
  EXPECT_TRUE(is_lost(hold));
}

// Lost by its own clock, and before anybody else has it.
TEST_F(RedisLink, WhoeverIsCutOffLosesBeforeAnotherIsGranted_F007_F008) {
  const Client other = open_direct();
  for (const bool both_ways : {true, false}) {
    const Client client = open();
    auto hold = client.mutex("lock").acquire({.lease = 1500ms}).value();
    std::atomic<int> told{0};
    const std::stop_callback count(hold.lost(), [&told] { ++told; });
    cut(Way::to_client);
    if (both_ways) cut(Way::to_server);
    const TimePoint last = hold.valid_until();
    auto next = other.mutex("lock").acquire({.wait = kSoon});
    ASSERT_TRUE(next) << next.error().text();
    EXPECT_GT(runtime::BootClock().now(), last) << "what is not confirmed lengthens nothing";
    EXPECT_FALSE(hold.valid());
    EXPECT_TRUE(eventually([&] { return told == 1; }));  // on a thread that may come late
    EXPECT_GT(next->fence(), hold.fence());
    mend();
    EXPECT_TRUE(next->verify());
    EXPECT_FALSE(hold.release());
    EXPECT_TRUE(next->release());
  }
}

TEST_F(RedisLink, NobodyLosesAnythingOnASlowAndUnsteadyLine_F016) {
  const Client client = open(2s);
  for (const Way way : kBothWays) proxy().set(way, {.delay = 50ms, .jitter = 200ms});
  const auto hold = client.mutex("lock").acquire({.lease = 2s});
  ASSERT_TRUE(hold) << hold.error().text();
  const Client other = open_direct();
  EXPECT_TRUE(fails_with(Errc::timed_out, other.mutex("lock").acquire({.wait = 4s})));
  EXPECT_TRUE(hold->valid());
  EXPECT_EQ(proxy().connections(), 1U) << "slow is not dead";
}

// ---- bytes ----

TEST_F(RedisLink, ByteByByteMeansTheSame_F010) {
  for (const Way way : kBothWays) proxy().set(way, {.chunk = 1});
  const Client client = open(10s);
  const Client other = open(10s);
  for (int i = 0; i < 3; ++i) {
    auto hold = client.mutex("lock").acquire({.reason = "a reason"});
    ASSERT_TRUE(hold) << hold.error().text();
    auto next = other.mutex("lock").async_acquire();
    ASSERT_TRUE(comes_to_wait());
    const auto busy = other.mutex("lock").try_acquire();
    ASSERT_FALSE(busy);
    EXPECT_EQ(busy.error().detail().holder->reason, "a reason");
    EXPECT_TRUE(hold->release());
    EXPECT_TRUE(std::move(next).get());
  }
}

TEST_F(RedisLink, GarbageEndsTheConnectionAndNothingElse_F011) {
  for (const char* garbage :
       {"HTTP/1.1 400 Bad Request\r\n\r\n", "$9223372036854775807\r\n", "*-7\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "\r\n\r\n",
        "$4\r\nabcdefgh\r\n"}) {
    const Client client = open(5s);
    const std::uint64_t before = proxy().connections();
    proxy().set(Way::to_client, {.rewrite = [=](std::string& bytes) { bytes = garbage; }}, before);
    const auto result = client.mutex("lock").acquire();
    EXPECT_TRUE(fails_with(Errc::protocol, result)) << garbage;
    const auto hold = client.mutex("lock").acquire({.wait = kSoon});
    EXPECT_TRUE(hold) << garbage;
    EXPECT_EQ(proxy().connections(), before + 1);
    EXPECT_TRUE(hold->verify());
  }
  EXPECT_TRUE(comes_to_be_empty());
}

TEST_F(RedisLink, AnAnswerThatNobodyAskedForIsGarbage_F011_F012) {
  const Client client = open(5s);
  proxy().set(Way::to_client,
              {.rewrite = [](std::string& bytes) { bytes += "$8\r\nreleased\r\n"; }}, kFirst);
  auto hold = client.mutex("lock").acquire();
  ASSERT_TRUE(hold) << "its own answer came first";
  ASSERT_TRUE(proxy().until_connections(2)) << "the connection is not used any more";
  EXPECT_TRUE(eventually([&] { return hold->verify().has_value(); }));
  EXPECT_TRUE(hold->release());
  EXPECT_TRUE(is_empty()) << "and so it was released by the server, not by the stray word";
}

// Half of the locks are another's. Everybody gives up long before the answers come, and asks for others.
TEST_F(RedisLink, AnOldYesIsNeverANewGrant_F012) {
  const Client other = open_direct();
  std::vector<Hold> held;
  for (int i = 0; i < 12; i += 2) {
    held.push_back(other.mutex("lock" + std::to_string(i)).acquire().value());
  }
  const Client client = open(50ms);
  std::set<int> granted;
  // Until some come in time: on a busy machine hardly any do, once late ones stand in the way of all that follow.
  for (int round = 0; round < 2 || (granted.empty() && round < 30); ++round) {
    if (round >= 2) {
      proxy().set(Way::to_client, {});
      EXPECT_TRUE(client.mutex("calm").acquire({.wait = kSoon}));
    }
    proxy().set(Way::to_client, {.delay = 20ms, .jitter = 120ms});
    for (int i = 0; i < 12; ++i) {
      const auto hold = client.mutex("lock" + std::to_string(i)).acquire({.wait = 100ms});
      if (!hold) continue;
      granted.insert(i);
      EXPECT_EQ(hold->fence().value(), fence_in_store("lock" + std::to_string(i)));
    }
  }
  for (const int i : granted) EXPECT_EQ(i % 2, 1) << "that one is another's";
  EXPECT_FALSE(granted.empty()) << "it shows nothing if all answers are too late";
  for (const Hold& hold : held) EXPECT_TRUE(hold.verify());
  held.clear();
  EXPECT_TRUE(comes_to_be_empty());
}

// ---- names and connections ----

TEST_F(RedisLink, AHostWithoutAnAddressIsUnavailableAtOnce_F013) {
  const Stopwatch watch;
  const auto client = connect("redis://no-such-host.invalid:6379");
  EXPECT_TRUE(fails_with(Errc::unavailable, client));
  EXPECT_THAT(client.error().text(), HasSubstr("no-such-host.invalid"));
  EXPECT_LT(watch.elapsed(), 10s);
}

// localhost is ::1, too, where the server does not listen.
TEST_F(RedisLink, EveryAddressOfAHostIsTried_F013) {
  const auto client = connect("redis://localhost:" + std::to_string(server().port()));
  EXPECT_TRUE(client) << client.error().text();
}

// On the server's port of another address of localhost: takes no connection and refuses none.
class BlackHole {
 public:
  explicit BlackHole(std::uint16_t port) : listener_(socket()) {
    where_.sin6_family = AF_INET6;
    where_.sin6_addr = in6addr_loopback;
    where_.sin6_port = htons(port);
    good_ = ::bind(listener_.get(), at(), sizeof where_) == 0 && ::listen(listener_.get(), 0) == 0;
    // Nobody accepts them, so there is no room for more.
    for (transport::Fd& each : guests_) {
      each = socket();
      ::connect(each.get(), at(), sizeof where_);
    }
  }
  bool good() const { return good_; }

 private:
  static transport::Fd socket() {
    return transport::Fd(::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  }
  const sockaddr* at() const { return reinterpret_cast<const sockaddr*>(&where_); }

  transport::Fd listener_;
  sockaddr_in6 where_{};
  std::array<transport::Fd, 3> guests_;
  bool good_ = false;
};

// From now on this process has a list of hosts of its own. False: it may not.
bool take_hosts(const std::string& file) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(file.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
}

// Arguments: the list of hosts, and the URL.
const Role kOwnHosts("redis-own-hosts", [](Parent& parent, const Words& words) {
  if (!take_hosts(words.at(0))) return parent.tell("has none");
  const auto client = connect(words.at(1));
  parent.tell(client ? "connected" : client.error().text());
});

// The same, and after each word that it hears it takes a lock.
const Role kFollowsTheName("redis-follows-the-name", [](Parent& parent, const Words& words) {
  if (!take_hosts(words.at(0))) return parent.tell("has none");
  const auto client = connect(words.at(1));
  parent.tell(client ? "connected" : client.error().text());
  if (!client) return;
  parent.hear();
  const auto hold = client->mutex("lock").acquire({.wait = kSoon});
  parent.tell(hold ? "has it" : hold.error().text());
});

TEST_F(RedisLink, AnAddressThatIsSilentLeavesTimeForTheNext_F013) {
  const BlackHole hole(server().port());
  if (!hole.good()) GTEST_SKIP() << "this machine has no IPv6";
  const TempFolder folder;
  std::ofstream(folder / "hosts") << "::1 twofold\n127.0.0.1 twofold\n";
  ChildProcess child(kOwnHosts,
                     {folder / "hosts", "redis://twofold:" + std::to_string(server().port())});
  const std::string said = child.hear();
  if (said == "has none") GTEST_SKIP() << "only root can give a process other files";
  EXPECT_EQ(said, "connected");
}

TEST_F(RedisLink, AHostThatHasMovedIsFoundUnderItsName_F013) {
  const TempFolder folder;
  std::ofstream(folder / "hosts") << "127.0.0.1 moving\n";
  ChildProcess child(kFollowsTheName,
                     {folder / "hosts", "redis://moving:" + std::to_string(server().port())});
  const std::string said = child.hear();
  if (said == "has none") GTEST_SKIP() << "only root can give a process other files";
  ASSERT_EQ(said, "connected");

  server().must({"CONFIG", "SET", "bind", "127.0.0.2"});
  std::ofstream(folder / "hosts") << "127.0.0.2 moving\n";
  server().must({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  child.tell("go");
  EXPECT_EQ(child.hear(), "has it");
}

// Descriptors are taken in their order, so the next one tells how many there are.
int next_descriptor() { return transport::Fd(::dup(0)).get(); }

// From then on none that was inherited is in between.
void take_descriptors_up_to(int last) {
  while (::dup(0) < last) {
  }
}

// A process that lets a client have more and more descriptors. Arguments: the URL.
const Role kFewDescriptors("redis-few-descriptors", [](Parent& parent, const Words& words) {
  take_descriptors_up_to(40);
  const int first = next_descriptor();
  int needed = 0;
  {
    const Client client = connect(words.at(0)).value();
    needed = next_descriptor() - first;
  }
  for (int allowed = 0; allowed < needed; ++allowed) {
    const auto few = static_cast<rlim_t>(first + allowed);
    const rlimit limit{few, 100};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const auto client = connect(words.at(0));
    if (client) return parent.tell("content with " + std::to_string(allowed));
    if (client.error() != Errc::unavailable) return parent.tell(client.error().text());
  }
  const rlimit enough{100, 100};
  ::setrlimit(RLIMIT_NOFILE, &enough);
  parent.tell(connect(words.at(0)) ? "connected" : "not connected");
});

TEST_F(RedisLink, WithoutDescriptorsForAllThatItNeedsAClientDoesNotBegin_F045) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs descriptors itself";
  ChildProcess child(kFewDescriptors, {url()});
  EXPECT_EQ(child.hear(), "connected");
}

// A process that may have no more threads for a while. Arguments: the URL.
const Role kThreadless("redis-threadless", [](Parent& parent, const Words& words) {
  const Client client = connect(words.at(0), {.answer_within = 200ms, .patience = 10s}).value();
  rlimit none{};
  ::getrlimit(RLIMIT_NPROC, &none);
  const rlimit before = std::exchange(none, rlimit{0, none.rlim_max});
  if (::setuid(kNobody) != 0 || ::setrlimit(RLIMIT_NPROC, &none) != 0) return;
  try {
    std::thread([] {}).join();
    return parent.tell("there are threads");
  } catch (const std::system_error&) {
    parent.tell("there are none");
  }
  parent.hear();
  // It has seen that it is cut off, and has tried to come back.
  eventually([&] { return is_no_answer(client.mutex("lock").try_acquire()); });
  std::this_thread::sleep_for(100ms);
  ::setrlimit(RLIMIT_NPROC, &before);
  const auto hold = client.mutex("lock").acquire({.wait = kSoon / 2});
  parent.tell(hold ? "held" : hold.error().text());
});

TEST_F(RedisLink, WhoeverHasNoThreadToComeBackOnTriesAgain) {
  if (!can_become_nobody()) GTEST_SKIP() << "root has as many threads as it likes";
  ChildProcess child(kThreadless, {url()});
  ASSERT_EQ(child.hear(), "there are none");
  proxy().reset();
  child.tell("cut");
  EXPECT_EQ(child.hear(), "held");
}

TEST_F(RedisLink, ManyWhoComeBackDoNotComeAllAtOnce_F015) {
  constexpr std::uint64_t kClients = kSanitized ? 10 : 40;
  std::vector<Client> clients;
  for (std::uint64_t i = 0; i < kClients; ++i) clients.push_back(open());
  server().kill();  // the proxy takes connections and drops them
  ASSERT_TRUE(proxy().until_connections(4 * kClients)) << "they try";
  const std::uint64_t before = proxy().connections();
  std::this_thread::sleep_for(4s);
  EXPECT_LT(proxy().connections() - before, 8 * 4 * kClients) << "and less and less";
  server().restart();
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < kClients; ++i) {
    EXPECT_TRUE(clients[i].mutex("lock" + std::to_string(i)).acquire({.wait = kSoon}));
  }
  EXPECT_LT(watch.elapsed(), 10s);
}

// As something in between does that knows the first command and not the next.
TEST_F(RedisLink, AServerThatSaysHelloAndHangsUpIsNotStormed_F015) {
  const Client client = open(1s);
  const Client other = open_direct();
  auto hold = other.mutex("lock").acquire().value();
  auto waiting = client.mutex("lock").async_acquire({.wait = kSoon});
  ASSERT_TRUE(comes_to_wait());
  proxy().set(Way::to_client, {.break_after = std::string_view("+PONG\r\n").size()});
  const std::uint64_t before = proxy().connections();
  std::this_thread::sleep_for(2s);
  EXPECT_LT(proxy().connections() - before, 60U);
  proxy().set(Way::to_client, {});
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(std::move(waiting).get());
}

TEST_F(RedisLink, HoldsOutliveConnectionsThatAreReset_F002_F065) {
  const Client client = open(1s);
  const auto hold = client.mutex("lock").acquire({.lease = 3s}).value();
  for (int i = 0; i < 20; ++i) {
    proxy().reset();
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(eventually([&] { return hold.verify().has_value(); }));
  EXPECT_EQ(fence_in_store(), hold.fence().value());
}

TEST_F(RedisLink, AServerThatHangsUpIsDialledAgain_F002) {
  const Client client = open(1s);
  proxy().half_close(Way::to_client);
  EXPECT_TRUE(client.mutex("lock").acquire({.wait = kSoon}));
}

// ---- SIGPIPE ----

void write_to_the_dead(const Client& client, Proxy& proxy) {
  struct sigaction deadly {};
  struct sigaction before {};
  deadly.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &deadly, &before);
  for (int i = 0; i < 30; ++i) {
    std::vector<Pending<Hold>> asked;
    for (int n = 0; n < 20; ++n) {
      asked.push_back(client.mutex("lock" + std::to_string(n)).async_acquire({.wait = 0s}));
      if (n == 5) proxy.reset();
    }
  }
  ::sigaction(SIGPIPE, &before, nullptr);
  EXPECT_TRUE(client.mutex("lock").acquire({.wait = kSoon}));
}

TEST_F(RedisLink, WritingToTheDeadIsNoSignal_F027) { write_to_the_dead(open(), proxy()); }

TEST(RedisTlsLink, WritingToTheDeadIsNoSignal_F027) {
  TestAuthority authority;
  RedisServer server({.tls = RedisTls{authority.issue(), authority.certificate(), false}});
  Proxy proxy(Address::tcp(server.tls_port()));
  const auto client = connect("rediss://" + proxy.address().text() +
                              "?server_name=localhost&ca=" + authority.certificate());
  ASSERT_TRUE(client) << client.error().text();
  write_to_the_dead(*client, proxy);
}

}  // namespace
}  // namespace holdfast::test
