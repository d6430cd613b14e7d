#include "store/redis/dial.hpp"

#include <utility>
#include <vector>

#include "store/redis/failure.hpp"
#include "store/redis/resp.hpp"
#include "transport/connect.hpp"

namespace holdfast::store::redis {
namespace {

using transport::Patience;
using transport::Stream;

// The first words of a connection.
class Introduction {
 public:
  Introduction(const Address& address, const Patience& patience)
      : address_(address), patience_(patience) {}

  Result<void> run(Stream& stream) const {
    std::vector<Words> commands;
    // Also with an empty password: whoever names a user must not become the default one.
    if (!address_.user.empty() || !address_.password.empty()) {
      commands.push_back(address_.user.empty() ? Words{"AUTH", address_.password}
                                               : Words{"AUTH", address_.user, address_.password});
    }
    commands.push_back({"PING"});
    if (address_.database != 0) commands.push_back({"SELECT", std::to_string(address_.database)});
    std::string out;
    for (const Words& each : commands) append_command(out, each);
    if (auto sent = write_all(stream, std::move(out), patience_); !sent) return sent.error();
    ReplyReader reader;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      auto reply = next_reply(stream, reader);
      if (!reply) return reply.error();
      if (reply->is(Reply::Type::error)) return refusal_of(commands[i].front(), reply->text);
    }
    return {};
  }

 private:
  // What most servers say to these is only "ERR" and a sentence. But one that is full says so to whatever
  // comes first.
  Error refusal_of(std::string_view command, std::string_view text) const {
    const NoAnswer meaning = failure_of(text);
    const bool only_a_sentence = meaning.why == Errc::protocol && text.starts_with("ERR");
    if (only_a_sentence && command == "SELECT") {
      return Error(Errc::invalid_argument,
                   "it has no database " + std::to_string(address_.database));
    }
    if (only_a_sentence && command == "AUTH") {
      return Error(Errc::permission,
                   "it does not take a password for this user; was a user name left out?");
    }
    return Error(meaning.why, meaning.text);
  }

  Result<Reply> next_reply(Stream& stream, ReplyReader& reader) const {
    for (;;) {
      if (auto reply = reader.next()) return std::move(*reply);
      if (reader.broken()) return Error(Errc::protocol, "what answers there is not Redis");
      std::string bytes;
      if (auto came = read_more(stream, bytes, patience_); !came) return came.error();
      reader.feed(bytes);
    }
  }

  const Address& address_;
  const Patience& patience_;
};

}  // namespace

Result<std::unique_ptr<Stream>> dial(const Address& address, const Clock& clock, TimePoint until,
                                     int give_up) {
  const Patience patience{clock, until, give_up};
  auto stream = transport::connect_stream(address.server, patience);
  if (!stream) return stream.error();
  if (auto done = Introduction(address, patience).run(**stream); !done) {
    return transport::named(address.server, done.error());
  }
  return stream;
}

transport::Redialler::Dial dial_to(const Address& address, const Clock& clock) {
  return [&address, &clock](TimePoint until, int give_up) {
    return dial(address, clock, until, give_up);
  };
}

}  // namespace holdfast::store::redis
