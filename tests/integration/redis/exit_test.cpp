// F038: a process that exits while clients have connections with TLS, or questions without an answer.
#include <optional>

#include "redis_test.hpp"
#include "support/child_process.hpp"

namespace holdfast::test {
namespace {

// Returns from main() with a client and a Hold that are static, and older than anything that OpenSSL does at the exit.
const Role kStatic("static over TLS", [](Parent&, const Words& arguments) {
  static std::optional<Client> client;
  static std::optional<Hold> held;
  client.emplace(connect(arguments.front()).value());
  held.emplace(client->mutex("held").acquire().value());
});

TEST(RedisTlsExit, WhatIsStaticIsGivenBackOverTls_F038) {
  TestAuthority authority;
  RedisServer server({.tls = RedisTls{authority.issue(), authority.certificate(), false}});
  const Client looks = connect("redis://127.0.0.1:" + std::to_string(server.port())).value();
  ChildProcess child(kStatic, {"rediss://localhost:" + std::to_string(server.tls_port()) +
                               "?ca=" + authority.certificate()});
  EXPECT_EQ(child.exit_code(), 0);
  EXPECT_TRUE(looks.inspect("held").value().empty());
}

// A busy machine may take long for it.
Client connect_patiently(const std::string& url) {
  return connect(url, {.close_within = kSoon}).value();
}

// Return from main() before there is an answer, when nobody but the question itself has the client any more.
const Role kDropper("drops what it asked", [](Parent&, const Words& arguments) {
  const Client client = connect_patiently(arguments.front());
  const auto dropped = client.mutex("held").async_acquire();
});
const Role kLeaver("leaves it to a callback", [](Parent&, const Words& arguments) {
  const Client client = connect_patiently(arguments.front());
  client.mutex("held").async_acquire().then([](const Result<Hold>&) {});
});
// The same client is older than the handler that waits at the exit.
const Role kStaticDropper("drops what it asked, last", [](Parent&, const Words& arguments) {
  static std::optional<Client> client;
  static std::optional<Pending<Hold>> asked;
  client.emplace(connect_patiently(arguments.front()));
  asked.emplace(client->mutex("held").async_acquire());
});

class RedisExit : public testing::TestWithParam<const Role*> {};

TEST_P(RedisExit, WhatIsGrantedToNobodyIsGivenBack_F035_F038) {
  RedisServer server;
  const std::string url = "redis://127.0.0.1:" + std::to_string(server.port());
  const Client looks = connect(url).value();
  ASSERT_TRUE(looks.mutex("held").acquire());  // from now on the server has the scripts
  for (int round = 0; round < 10; ++round) {
    ChildProcess child(*GetParam(), {url});
    EXPECT_EQ(child.exit_code(), 0);
    EXPECT_TRUE(looks.inspect("held").value().empty());
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Roles, RedisExit, testing::Values(&kDropper, &kLeaver, &kStaticDropper),
                         [](const auto& param) {
                           if (param.param == &kDropper) return "Dropped";
                           return param.param == &kLeaver ? "LeftToACallback" : "Static";
                         });

}  // namespace
}  // namespace holdfast::test
