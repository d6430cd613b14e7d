#include "store/zookeeper/renewals.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/zookeeper/failure.hpp"

namespace holdfast::store::zookeeper {
namespace {

class Batch : public std::enable_shared_from_this<Batch> {
 public:
  Batch(Ground& ground, std::span<const Renewal> renewals, Call<RenewReply> call)
      : ground_(ground), call_(std::move(call)), asked_at_(ground.clock.now()) {
    for (const Renewal& each : renewals) items_.push_back({.asked = each});
  }

  void begin() {
    std::vector<Request> requests{agreement()};
    {
      const auto guard = ground_.places.lock();
      session_ = ground_.tree.session();
      for (Item& item : items_) {
        item.place = ours(item);
        if (!item.place) continue;
        item.first_reply = requests.size();
        item.nodes = item.place->nodes;
        for (const std::string& path : item.nodes) {
          requests.push_back({.op = Op::exists, .path = path});
        }
      }
    }
    if (requests.size() == 1) return end();
    auto self = shared_from_this();
    ground_.tree.ask(std::move(requests), call_.deadline(), call_.may_block(), session_,
                     [self](const Outcome& outcome) { self->seen(outcome); });
  }

 private:
  struct Item {
    Renewal asked;
    Places::Ptr place{};
    std::size_t first_reply = 0;
    std::vector<std::string> nodes{};
    bool changed = false;  // their data have to be read
    RenewalReply reply = Gone{};
  };

  // With the lock. None if there is nothing to renew, or it was revoked.
  Places::Ptr ours(Item& item) {
    Places::Ptr place = ground_.places.find(item.asked);
    const bool there = place && place->is_hold_of(item.asked) && place->session == session_ &&
                       place->until > asked_at_ && !place->nodes.empty();
    if (!there) return nullptr;
    if (place->revoked) item.reply = Gone{.forced = true};
    return place->revoked ? nullptr : place;
  }

  void seen(const Outcome& outcome) {
    if (const auto* none = std::get_if<NoAnswer>(&outcome)) return fail(*none);
    const Answers& answers = std::get<Answers>(outcome);
    std::vector<Request> requests;
    for (Item& item : items_) {
      if (!item.place) continue;
      look_at(item, answers);
      if (!item.changed) continue;
      item.first_reply = requests.size();
      for (const std::string& path : item.nodes) {
        requests.push_back({.op = Op::get_data, .path = path});
      }
    }
    if (requests.empty()) return end();
    auto self = shared_from_this();
    ground_.tree.ask(std::move(requests), call_.deadline(), call_.may_block(), session_,
                     [self](const Outcome& data) { self->read(data); });
  }

  void look_at(Item& item, const Answers& answers) {
    const std::span<const Reply> nodes = replies_of(item, answers);
    for (const Reply& node : nodes) {
      if (is_refused(node)) return fail(item, node);
      if (node.code != Code::ok || node.stat.ephemeral_owner != answers.session) {
        return lose(item);
      }
    }
    const auto guard = ground_.places.lock();
    item.changed = item.place->nodes == item.nodes && !item.place->knows(nodes);
  }

  static std::span<const Reply> replies_of(const Item& item, const Answers& answers) {
    return std::span(answers.replies).subspan(item.first_reply, item.nodes.size());
  }

  void read(const Outcome& outcome) {
    if (const auto* none = std::get_if<NoAnswer>(&outcome)) return fail(*none);
    const Answers& answers = std::get<Answers>(outcome);
    for (Item& item : items_) {
      if (item.changed) read(item, replies_of(item, answers));
    }
    end();
  }

  void read(Item& item, std::span<const Reply> nodes) {
    for (const Reply& node : nodes) {
      if (is_refused(node)) return fail(item, node);
      if (node.code != Code::ok) return lose(item);
    }
    const auto guard = ground_.places.lock();
    if (item.place->nodes != item.nodes) return;  // it has others since
    item.place->learn(nodes);
    if (!item.place->revoked) return;
    item.reply = Gone{.forced = true};
    item.place = nullptr;
  }

  // The server would not say.
  void fail(Item& item, const Reply& refused) {
    item.reply = failure(refused, ground_.layout.lock(item.asked.name));
    item.place = nullptr;
  }

  // Somebody deleted it, or one of several: the others are of no use.
  void lose(Item& item) {
    const Places::Ptr place = std::exchange(item.place, nullptr);
    std::vector<std::string> paths;
    {
      const auto guard = ground_.places.lock();
      if (place->is_hold_of(item.asked)) {
        paths = ground_.places.condemn(*place);
        ground_.places.set_until(*place, place->until);
      }
    }
    ground_.places.remove(place, paths, session_);
  }

  void fail(const NoAnswer& none) {
    // A session that is over has taken everything with it.
    if (!none.executed && ground_.tree.session() != session_ && ground_.tree.session() != 0) {
      for (Item& item : items_) item.place = nullptr;
      return end();
    }
    call_.answer(none);
  }

  // What lapsed meanwhile is not revived.
  void end() {
    for (Item& item : items_) {
      if (!item.place) continue;
      const Duration lease = ground_.lease_from(asked_at_, item.asked.lease, session_);
      const auto guard = ground_.places.lock();
      Place& place = *item.place;
      if (!place.is_hold_of(item.asked) || place.until <= ground_.clock.now()) continue;
      if (lease <= Duration::zero()) {
        item.reply = session_may_be_over();
        continue;
      }
      place.stage = Stage::held;
      ground_.places.hold(place, asked_at_, lease);
      item.reply = Renewed{std::min(lease, left_until(place.until, asked_at_))};
    }
    std::vector<RenewalReply> replies;
    for (Item& item : items_) replies.push_back(std::move(item.reply));
    call_.answer(std::move(replies));
  }

  Ground& ground_;
  Call<RenewReply> call_;
  const TimePoint asked_at_;
  std::vector<Item> items_;
  std::int64_t session_ = 0;
};

}  // namespace

void renew(Ground& ground, std::span<const Renewal> renewals, Call<RenewReply> call) {
  std::make_shared<Batch>(ground, renewals, std::move(call))->begin();
}

}  // namespace holdfast::store::zookeeper
