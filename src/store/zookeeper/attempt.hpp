// What attempts to get a lock have in common, whatever kind it is. An attempt goes from question to answer in
// the turn of its claim until it knows, and keeps what it learns in the claim's place.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/store/call.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {

class Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  virtual ~Attempt();

  // Asked for by the engine, with the terms that the place has now.
  void begin(Call<GrantReply>);
  // A watch fired: nobody waits for an answer, but to be told.
  void begin_look();

 protected:
  Attempt(Ground& ground, Places::Turn turn)
      : ground_(ground), place_(turn.place()), turn_(std::move(turn)) {}

  // From what is known of the claim's nodes.
  virtual void start(Stage) = 0;
  // The last question was not answered: what hangs on its answer will not be.
  virtual void give_up() {}

  // ---- questions ----
  template <class Self>
  void ask(std::vector<Request> requests, void (Self::*then)(const Answers&)) {
    if (!may_go_on()) return silent(too_many_rounds());
    ground_.tree.ask(std::move(requests), deadline_, waits_, session_, heard(then));
  }
  template <class Self>
  void ask_as_one(std::vector<Request> requests, void (Self::*then)(const Answers&)) {
    if (!may_go_on()) return silent(too_many_rounds());
    ground_.tree.ask_as_one(std::move(requests), deadline_, waits_, session_, heard(then));
  }
  // The next question makes nodes: until it is answered nobody knows whether they are there.
  void doubt();
  // It was answered.
  void has_nodes(Stage, std::vector<std::string> paths, std::uint64_t fence);
  void has_none();
  void has_what_it_had();  // it was not done
  // Nobody had the name as another kind when the claim's nodes came; seen by this attempt, or by an earlier one.
  bool kinds_are_checked() const;
  void has_checked_kinds();

  // ---- ends ----
  void grant();
  void refuse(std::uint32_t ahead, std::uint32_t waiting, std::uint64_t fence_counter);
  void end(GrantReply);  // of a look: whoever waits is told to ask
  void end_look(std::optional<Wake> = {});
  void silent(NoAnswer);
  void turn_away(GrantReply);                                 // takes the claim's nodes away first
  void turn_away_behind(Refused, const std::string& holder);  // and reads who is in the way

  // ---- what is known ----
  const GrantRequest& terms() const { return place_->terms; }
  bool is_asked() const { return call_.open(); }
  bool is_awaited() const;
  std::string own_node() const;  // the path of the first; empty if there is none any more
  std::string data_text(std::uint64_t fence = 0) const;
  Refused refusal(std::uint32_t ahead, std::uint32_t waiting, std::uint64_t fence_counter) const;
  void remember_holder(std::string_view node, const Reply&);
  // The next question sets a watch on these. `is_next`: when one is deleted, there is nothing left to wait for.
  void watch(std::vector<std::string> paths, bool is_next = false);
  // It did. True: one of them has fired since.
  bool watches();

  Ground& ground_;
  const Places::Ptr place_;
  TimePoint asked_at_{};
  std::int64_t session_ = 0;  // in which it goes on; 0: any

 private:
  template <class Self>
  auto heard(void (Self::*then)(const Answers&)) {
    auto self = std::static_pointer_cast<Self>(shared_from_this());
    return [self, then](const Outcome& outcome) {
      if (const auto* none = std::get_if<NoAnswer>(&outcome)) return self->silent(*none);
      const Answers& answers = std::get<Answers>(outcome);
      self->session_ = answers.session;
      ((*self).*then)(answers);
    };
  }
  static NoAnswer too_many_rounds();
  void begin();
  void take_watch_back();
  bool may_go_on();
  void turn_away(GrantReply, std::optional<std::string> holder);

  Call<GrantReply> call_;
  TimePoint deadline_ = kNever;
  bool waits_ = false;
  int rounds_ = 0;
  bool setting_watch_ = false;
  bool made_ = false;  // nodes that are there
  std::optional<Stage> before_doubt_{};
  // The last, and so the first to go: a Call that is dropped answers, which may be the end of the store.
  Places::Turn turn_;
};

}  // namespace holdfast::store::zookeeper
