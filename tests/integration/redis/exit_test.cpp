// F038: a process that exits while clients have connections with TLS.
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

TEST(RedisExit, WhatIsStaticIsGivenBackOverTls_F038) {
  TestAuthority authority;
  RedisServer server({.tls = RedisTls{authority.issue(), authority.certificate(), false}});
  const Client looks = connect("redis://127.0.0.1:" + std::to_string(server.port())).value();
  ChildProcess child(kStatic, {"rediss://localhost:" + std::to_string(server.tls_port()) +
                               "?ca=" + authority.certificate()});
  EXPECT_EQ(child.exit_code(), 0);
  EXPECT_TRUE(looks.inspect("held").value().empty());
}

}  // namespace
}  // namespace holdfast::test
