#include "store/redis/redis_cells.hpp"

#include <utility>
#include <vector>

#include "rules/cell_entry.hpp"
#include "store/redis/cell_questions.hpp"
#include "store/redis/keys.hpp"
#include "store/redis/script_asker.hpp"
#include "store/redis/wanted_channel.hpp"

namespace holdfast::store::redis {

class RedisCells::Subscription final : public Watch {
 public:
  // Under the state's mutex, so that nothing is told between the two.
  Subscription(std::shared_ptr<Subscriber> subscriber, std::shared_ptr<State> state,
               std::string channel, Function changed)
      : channel_(std::move(subscriber), std::move(channel)),
        state_(std::move(state)),
        id_(channel_.name(), ++state_->last) {
    state_->functions.emplace(id_, std::move(changed));
  }
  ~Subscription() override {
    const std::lock_guard lock(state_->mutex);
    state_->functions.erase(id_);
  }

 private:
  const WantedChannel channel_;
  const std::shared_ptr<State> state_;
  const Id id_;
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
  auto function = std::make_shared<const CellChangedFn>(std::move(changed));
  const std::lock_guard lock(state_->mutex);
  return std::make_unique<Subscription>(parts_.subscriber, state_, cell_channel(key),
                                        std::move(function));
}

bool RedisCells::heard(const std::string& channel) {
  std::vector<Function> all;
  {
    const std::lock_guard lock(state_->mutex);
    auto& functions = state_->functions;
    for (auto each = functions.lower_bound({channel, 0});
         each != functions.end() && each->first.first == channel; ++each) {
      all.push_back(each->second);
    }
  }
  for (const Function& changed : all) (*changed)();
  return !all.empty();
}

}  // namespace holdfast::store::redis
