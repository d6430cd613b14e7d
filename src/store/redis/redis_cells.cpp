#include "store/redis/redis_cells.hpp"

#include <utility>
#include <vector>

#include "rules/cell_entry.hpp"
#include "store/redis/cell_questions.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/script_asker.hpp"

namespace holdfast::store::redis {

class RedisCells::Subscription final : public Watch {
 public:
  Subscription(std::shared_ptr<Subscriber> subscriber, std::shared_ptr<State> state,
               std::string channel, std::uint64_t id)
      : subscriber_(std::move(subscriber)),
        state_(std::move(state)),
        channel_(std::move(channel)),
        id_(id) {
    subscriber_->want(channel_);
  }
  ~Subscription() override {
    {
      const std::lock_guard lock(state_->mutex);
      const auto found = state_->by_channel.find(channel_);
      found->second.erase(id_);
      if (found->second.empty()) state_->by_channel.erase(found);
    }
    subscriber_->give_up(channel_);
  }

 private:
  const std::shared_ptr<Subscriber> subscriber_;
  const std::shared_ptr<State> state_;
  const std::string channel_;
  const std::uint64_t id_;
};

void RedisCells::read(const CellKey& key, Call<CellReply> call) {
  if (auto why = rules::objection(key)) return call.answer(std::move(*why));
  ask_command(parts_.connection, ask_cell(key), std::move(call), cell_in);
}

void RedisCells::write(const CellWrite& write, Call<CellReply> call) {
  if (auto why = rules::objection(write)) return call.answer(std::move(*why));
  ask_script(parts_.connection, ask_write(write, parts_.settings), std::move(call), change_in);
}

void RedisCells::add(const CellAdd& add, Call<CellReply> call) {
  if (auto why = rules::objection(add)) return call.answer(std::move(*why));
  ask_script(parts_.connection, ask_add(add, parts_.settings), std::move(call), change_in);
}

WatchPtr RedisCells::watch(const CellKey& key, CellChangedFn changed) {
  std::string channel = cell_channel(key);
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(state_->mutex);
    id = ++state_->last;
    state_->by_channel[channel].emplace(id,
                                        std::make_shared<const CellChangedFn>(std::move(changed)));
  }
  return std::make_unique<Subscription>(parts_.subscriber, state_, std::move(channel), id);
}

bool RedisCells::heard(const std::string& channel) {
  std::vector<Function> all;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->by_channel.find(channel);
    if (found == state_->by_channel.end()) return false;
    for (const auto& [id, changed] : found->second) all.push_back(changed);
  }
  for (const Function& changed : all) (*changed)();
  return true;
}

}  // namespace holdfast::store::redis
