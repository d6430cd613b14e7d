// A client's connection to a store over a network that lies, whatever family the store is of.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/store/store.hpp"
#include "sim_server.hpp"

namespace holdfast::sim {

class SimStore : public store::Store {
 public:
  explicit SimStore(const Link& link) : link_(link) {}

  void try_grant(const store::GrantRequest&, store::Call<store::GrantReply>) override;
  void renew(std::span<const store::Renewal>, store::Call<store::RenewReply>) override;
  void release(const store::HoldKey&, store::Call<store::ReleaseReply>) override;
  void withdraw(const store::ClaimKey&, store::Call<store::WithdrawReply>) override;
  store::WatchPtr watch(const store::ClaimKey&, store::WakeFn) override;
  void inspect(std::string_view, store::Call<store::InspectReply>) override {}
  void force_release(const store::ForceRequest&, store::Call<store::ForceReply>) override {}
  void close() override;

  // Faults of the connection.
  enum class Lost : std::uint8_t { requests, replies, both };
  virtual void reset();
  void cut_off(Lost, Time until);
  void lose_watches();

  void wake(std::uint64_t watch, const store::Wake&);  // sent by the server
  bool has_open_calls() const { return !open_.empty(); }
  // Something is on its way that may yet change what the store keeps for this client.
  virtual bool messages_under_way() const { return under_way_ > 0; }

  // What is renewed meanwhile, or after a step of the wall clock, serves a verification: it keeps no
  // rhythm.
  void verification_begins() { ++verifications_; }
  void verification_ends() { --verifications_; }
  void wall_stepped() { ++wall_steps_; }

  // When the store's first refusal reached this client, when the question left that was granted, and
  // for how long it was.
  Time lined_up(std::uint64_t claim) const;
  Time grant_sent(std::uint64_t fence) const;
  std::int64_t grant_lease_ns(std::uint64_t fence) const;

 protected:
  struct Question {
    std::uint64_t id = 0;
    std::uint64_t connection = 0;
    TimePoint sent{};  // by the client's clock
  };
  template <class Reply>
  using Done = std::function<void(Reply)>;

  // A question has arrived at the server; `done` is told the reply when it leaves for the client.
  virtual void execute(const Question&, const store::GrantRequest&, Done<store::GrantReply>) = 0;
  virtual void execute(const Question&, const std::vector<store::Renewal>&,
                       Done<store::RenewReply>) = 0;
  virtual void execute(const Question&, const store::HoldKey&, Done<store::ReleaseReply>) = 0;
  virtual void execute(const Question&, const store::ClaimKey&, Done<store::WithdrawReply>) = 0;
  virtual void subscribe(std::uint64_t watch, const store::ClaimKey&) = 0;  // has arrived, too
  virtual void unsubscribe(const store::OwnerId&) = 0;

  // The client's side: a verb is about to be asked, a reply is about to be handed to the engine.
  virtual void asking() {}
  virtual void parting(const store::ClaimKey&) {}
  virtual void arrived(const Question&, const store::OwnerId&, store::GrantReply&) {}
  virtual void arrived(const Question&, store::RenewReply&) {}
  virtual void arrived(const store::ClaimKey&, const store::ReleaseReply&) {}
  virtual void arrived(const store::ClaimKey&, const store::WithdrawReply&) {}

  struct Way {  // what becomes of one message
    bool lost = false;
    Time delay = 0;
    bool by_itself = false;  // does not keep the order of the others
  };
  Way request_way();
  Way reply_way();
  Time request_arrival(const Way&);
  Time reply_arrival(const Way&);
  // What is sent from now on does not wait for what was sent before.
  void new_stream() { last_arrival_ = last_reply_ = world().now(); }

  struct Watched {
    store::ClaimKey key;
    store::WakeFn wake;
  };
  const std::map<std::uint64_t, Watched>& watches() const { return watches_; }
  World& world() const { return link_.world; }
  Node& node() const { return link_.node; }
  const Plan& plan() const { return link_.plan; }
  SeededRandom& random() const { return link_.random; }
  TimePoint local_now() const { return link_.node.local(link_.world.now()); }
  bool cut_there() const { return link_.world.now() < cut_there_until_; }
  bool cut_back() const { return link_.world.now() < cut_back_until_; }
  bool closed() const { return closed_; }
  std::uint64_t connection() const { return connection_; }
  std::string who() const { return "client " + std::to_string(link_.node.number()); }

 private:
  struct WatchHandle;
  struct Open {
    std::function<void()> break_off;  // answers no_answer
  };

  template <class Reply>
  void ask(const std::string& what, store::Call<Reply>,
           std::function<void(const Question&, Done<Reply>)> execute,
           std::function<void(const Question&, Reply&, bool in_time)> seen);
  bool strikes(Fault fault) { return due(fault) && takes_place(fault); }
  // For how long it strikes, if it does. One that is left out takes the same chance.
  std::optional<Time> strikes(Fault, Time from, Time to);
  bool due(Fault);
  bool takes_place(Fault fault) {
    return link_.faults.strikes(fault, node().number(), has_open_calls());
  }

  Link link_;
  std::uint64_t last_id_ = 0;
  std::uint64_t connection_ = 1;
  Time cut_there_until_ = 0;  // requests
  Time cut_back_until_ = 0;   // replies and wakes
  Time last_arrival_ = 0;
  Time last_reply_ = 0;
  Time subscribed_ = 0;          // when the newest watch is known to the server
  std::uint64_t under_way_ = 0;  // requests and replies that will arrive
  bool closed_ = false;
  struct Doubt {
    std::uint32_t steps = 0;  // of the wall clock, that were seen to
    int renewals_left = 0;
  };
  bool may_verify(std::uint64_t fence);
  int verifications_ = 0;  // that are open
  std::uint32_t wall_steps_ = 0;
  std::map<std::uint64_t, Doubt> doubts_;  // by fence
  std::map<std::uint64_t, Open> open_;
  std::map<std::uint64_t, Watched> watches_;
  std::map<std::uint64_t, Time> lined_up_;
  std::map<std::uint64_t, Time> grant_sent_;
  std::map<std::uint64_t, std::int64_t> grant_lease_;
};

}  // namespace holdfast::sim
