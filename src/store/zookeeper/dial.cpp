#include "store/zookeeper/dial.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "store/zookeeper/answers.hpp"
#include "store/zookeeper/jute.hpp"
#include "store/zookeeper/messages.hpp"

namespace holdfast::store::zookeeper {
namespace {

using transport::Patience;
using transport::Stream;
using transport::Target;

// The first words of a connection.
class Introduction {
 public:
  Introduction(const Address& address, const Credentials& credentials, const Patience& patience)
      : address_(address), credentials_(credentials), patience_(patience) {}

  Result<Dialled> run(std::unique_ptr<Stream> stream) {
    Dialled dialled{.sent = patience_.clock.now(), .credentials = credentials_};
    std::string hello;
    const auto wanted = std::chrono::ceil<std::chrono::milliseconds>(address_.session).count();
    append_hello(hello, {.last_zxid = credentials_.last_zxid,
                         .timeout_ms = static_cast<std::int32_t>(wanted),
                         .session = credentials_.session,
                         .password = credentials_.password});
    const auto frame = ask(*stream, std::move(hello));
    if (!frame) return frame.error();
    auto welcome = welcome_in(*frame);
    if (!welcome) return not_zookeeper();
    if (welcome->timeout_ms == 0) {
      if (credentials_.session != 0) return Error(Errc::lost, "the session has ended");
      return Error(Errc::unavailable, "it opens no session");
    }
    dialled.timeout = std::chrono::milliseconds(welcome->timeout_ms);
    if (dialled.timeout < kShortestSession) {
      return Error(Errc::protocol, "it grants sessions of " + std::to_string(welcome->timeout_ms) +
                                       " ms, which is too short to hold anything");
    }
    dialled.credentials.session = welcome->session;
    dialled.credentials.password = std::move(welcome->password);
    if (auto known = introduce(*stream); !known) return known.error();
    if (auto heard = look(*stream); !heard) return heard.error();
    dialled.stream = std::move(stream);
    return dialled;
  }

 private:
  Result<void> introduce(Stream& stream) {
    if (address_.user.empty()) return {};
    std::string identity;
    append_identity(identity, address_.user, address_.password);
    const auto frame = ask(stream, std::move(identity));
    if (!frame) return frame.error();
    const auto head = head_in(*frame);
    if (!head || head->xid != kIdentityXid) return not_zookeeper();
    if (head->raw == 0) return {};
    return Error(Errc::permission, "ZooKeeper does not accept the user or the password");
  }

  // Servers may welcome everybody and then listen to some only.
  Result<void> look(Stream& stream) {
    std::string ping;
    append_ping(ping);
    const auto frame = ask(stream, std::move(ping));
    if (!frame) return frame.error();
    const auto head = head_in(*frame);
    if (!head || head->xid != kPingXid) return not_zookeeper();
    if (!locks_us_out(head->raw)) return {};
    return Error(Errc::permission,
                 "ZooKeeper wants another proof of who we are than the URL gives, a user or a "
                 "certificate");
  }

  Result<std::string> ask(Stream& stream, std::string words) {
    if (auto sent = write_all(stream, std::move(words), patience_); !sent) return sent.error();
    for (;;) {
      if (const auto frame = reader_.next()) {
        if (frame->cut) return not_zookeeper();
        return std::string(frame->bytes);
      }
      if (reader_.broken()) return not_zookeeper();
      std::string bytes;
      if (auto came = read_more(stream, bytes, patience_); !came) return came.error();
      reader_.feed(bytes);
    }
  }

  static Error not_zookeeper() {
    return Error(Errc::protocol, "what answers there is not ZooKeeper");
  }

  const Address& address_;
  const Credentials& credentials_;
  const Patience& patience_;
  FrameReader reader_;
};

Result<Dialled> dial_one(const Address& address, std::size_t endpoint,
                         const Credentials& credentials, const Patience& patience) {
  const Target target{.endpoint = address.endpoints[endpoint],
                      .tls = address.tls,
                      .tls_settings = address.tls_settings};
  auto stream = transport::connect_stream(target, patience);
  if (!stream) return stream.error();
  auto dialled = Introduction(address, credentials, patience).run(std::move(*stream));
  if (!dialled) return transport::named(target, dialled.error());
  dialled->endpoint = endpoint;
  return dialled;
}

std::vector<std::size_t> shuffled(std::size_t count, std::size_t last, Random& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[static_cast<std::size_t>(random.below(left))]);
  }
  if (order.front() == last) std::swap(order.front(), order.back());
  return order;
}

// What the others did is worth more than that the last one could not be reached.
bool says_more(const Error& error, const Error& than) {
  return than == Errc::unavailable && error != Errc::unavailable;
}

}  // namespace

Result<Dialled> dial(const Address& address, const Credentials& credentials,
                     const Patience& patience, Random& random, std::size_t last) {
  const auto order = shuffled(address.endpoints.size(), last, random);
  Result<Dialled> dialled = Error(Errc::unavailable, "there is no server");
  for (std::size_t i = 0; i < order.size(); ++i) {
    // One that is silent leaves the others their share of the time.
    const auto shares = static_cast<Duration::rep>(order.size() - i);
    auto next = dial_one(address, order[i], credentials, patience.part(shares));
    // One that may not know it yet would not say that a session has ended: it would hang up.
    if (next || next.error() == Errc::lost) return next;
    if (i == 0 || says_more(next.error(), dialled.error())) dialled = std::move(next);
  }
  return dialled;
}

}  // namespace holdfast::store::zookeeper
