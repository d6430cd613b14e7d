#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/store/blocked_caller.hpp"
#include "holdfast/store/clock.hpp"
#include "holdfast/store/loop.hpp"
#include "store/redis/address.hpp"
#include "store/redis/resp.hpp"
#include "transport/redialler.hpp"
#include "transport/shared_connection.hpp"
#include "transport/stream.hpp"

namespace holdfast::store::redis {

class Asker : public transport::Asker {
 public:
  using transport::Asker::Asker;
  virtual void answered(Reply) = 0;
};

// A SharedConnection that speaks RESP.
//
// Threads      All members from any thread.
// Lifetime     close() before the destructor, not from inside an answer.
class Connection final : transport::Language {
 public:
  struct Parts {
    const Address& address;
    const Clock& clock;
    Loop& loop;
    transport::Redialler& redialler;
  };
  // Over a stream that has been dialled already.
  Connection(const Parts&, std::unique_ptr<transport::Stream>);

  // False: no descriptor was left for it. It must not be used.
  bool complete() const { return shared_.complete(); }

  void ask(std::span<const std::string> words, std::unique_ptr<Asker>);
  bool drive(const std::shared_ptr<BlockedCaller>& caller) { return shared_.drive(caller); }
  void interrupt(const BlockedCaller& caller) { shared_.interrupt(caller); }
  void close() { shared_.close(); }

 private:
  std::string begun(std::uint64_t stream) override;
  void feed(std::string_view bytes) override { reader_.feed(bytes); }
  Next next() override;
  bool answer(transport::Asker&) override;
  std::string server() const override { return to_string(address_.server); }
  std::string_view name() const override { return "Redis"; }

  const Address& address_;
  ReplyReader reader_;
  std::optional<Reply> reply_;  // that is to be handed out
  transport::SharedConnection shared_;
};

}  // namespace holdfast::store::redis
