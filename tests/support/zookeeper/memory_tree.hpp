// ZooKeeper's tree in memory, for tests of what stands on it: nodes, sequences, sessions that end, watches that
// tell once, containers that are taken away. Nothing happens by itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "holdfast/store/clock.hpp"
#include "holdfast/task.hpp"
#include "store/zookeeper/tree.hpp"

namespace holdfast::test {

namespace zk = store::zookeeper;

class MemoryTree;

// What all clients share.
//
// Threads      From any thread. Nobody is told anything with the mutex held.
class MemoryEnsemble {
 public:
  explicit MemoryEnsemble(const store::Clock& clock) : clock_(clock) {}

  // What is there, for tests.
  std::vector<std::string> children(const std::string& path) const;
  std::optional<std::string> data(const std::string& path) const;
  std::optional<zk::Stat> stat(const std::string& path) const;
  std::size_t watches() const;  // at the servers, with those that a client has left
  std::size_t wanted_watches() const;
  std::size_t wanted_watches_of(const std::string& path) const;
  std::uint64_t listings() const { return listings_; }  // that were asked for
  // As somebody without our code would.
  zk::Reply do_it(const zk::Request&, std::int64_t session = 1);

  // Empty containers go, as the server takes them away every minute; and the sequence numbers with them.
  void reap();
  // How many children have been made below this node; as if it had been so many.
  std::int32_t created(const std::string& path) const;
  void set_created(const std::string& path, std::int32_t children);

 private:
  friend class MemoryTree;

  struct Node {
    std::string data;
    zk::Stat stat;
    bool container = false;
    bool had_children = false;
    std::int32_t created = 0;  // children so far
    std::set<std::string> children;
  };
  struct Told {
    MemoryTree* tree;
    std::string path;
    zk::Event event;
  };
  using Tolds = std::vector<Told>;
  // Whoever set one, and whether it still wants to hear of it. That a client keeps to itself: the servers have the
  // watch until it fires.
  using Watchers = std::map<MemoryTree*, bool>;
  using Watches = std::map<std::string, Watchers>;

  // With the mutex.
  std::vector<zk::Reply> execute(const std::vector<zk::Request>&, std::int64_t session, MemoryTree*,
                                 Tolds&);
  std::vector<zk::Reply> execute_as_one(const std::vector<zk::Request>&, std::int64_t session,
                                        MemoryTree*, Tolds&);
  zk::Reply execute(const zk::Request&, std::int64_t session, std::int64_t zxid, MemoryTree*,
                    Tolds&);
  zk::Reply create(const zk::Request&, std::int64_t session, std::int64_t zxid, Tolds&);
  zk::Reply remove(const zk::Request&, std::int64_t zxid, Tolds&);
  void fire(Watches&, const std::string& path, zk::Event, Tolds&);
  void end_session(std::int64_t session, Tolds&);
  void forget(MemoryTree*);
  static std::size_t wanted(const Watchers&);
  static void tell(const Tolds&);

  const store::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Node> nodes_{{"/", {}}};
  std::atomic<std::uint64_t> listings_{0};
  std::int64_t zxid_ = 100;
  std::int64_t sessions_ = 1000;
  Watches data_watches_;
  Watches child_watches_;
};

// One client's connection.
//
// What becomes of a question:
//   up           done and answered at once, on the thread that asks
//   lost         not done: NoAnswer, executed = false
//   silent       not done: NoAnswer, executed = true
//   deaf         done, and the answer is lost
//   held         done and answered by let_go()
enum class Wire : std::uint8_t { up, lost, silent, deaf, held };

class MemoryTree final : public zk::Tree {
 public:
  MemoryTree(std::shared_ptr<MemoryEnsemble>, const store::Clock&, Duration timeout);
  ~MemoryTree() override;

  void set(Wire);
  bool let_one_go();
  std::size_t let_go();
  std::size_t held() const;
  // Neither done nor answered: as if there had been no memory to go on.
  void forget_held();
  // Of what is held back: done by then, but not answered.
  void lose_next_answer() { lose_next_ = true; }
  // The session ends, and with it its nodes; a new one begins at once.
  void expire();
  // Its nodes stay for a while: the server has not noticed yet.
  void expire_here_only();
  // The next listing of this path shows what it showed at that moment, as a follower that is behind would.
  void remember_listing(const std::string& path);
  // The server refuses the next one of these: it is not done, nor is anything that was asked for with it as one.
  void refuse_next(zk::Op, zk::Code);
  void set_valid_for(Duration valid) { valid_for_ = valid; }
  std::uint64_t questions() const { return questions_; }  // round trips
  bool kept_valid() const { return kept_valid_; }

  void listen(Listener&) override;
  void ask(std::vector<zk::Request>, TimePoint deadline, bool waits, std::int64_t only_in,
           std::function<void(zk::Outcome)>) override;
  void ask_as_one(std::vector<zk::Request>, TimePoint deadline, bool waits, std::int64_t only_in,
                  std::function<void(zk::Outcome)>) override;
  void remove_for_sure(std::string path, std::int64_t session, std::function<void()> done) override;
  void leave_watch(const std::string& path) override;
  void keep_valid(bool wanted) override { kept_valid_ = wanted; }
  std::int64_t session() const override { return session_; }
  std::uint64_t connection() const override { return connection_; }
  TimePoint valid_until() const override { return later(clock_.now(), valid_for_); }
  Duration timeout() const override { return timeout_; }
  void close() override;

 private:
  void end_session(bool everywhere);
  friend class MemoryEnsemble;

  void put(std::vector<zk::Request>, bool as_one, std::int64_t only_in,
           const std::function<void(zk::Outcome)>&);
  void run(const std::vector<zk::Request>&, bool as_one, bool heard, std::int64_t only_in,
           const std::function<void(zk::Outcome)>&);
  std::optional<zk::Code> refusal_of(zk::Op);
  void begin_session();
  void remove_now();
  Wire wire() const;

  const std::shared_ptr<MemoryEnsemble> all_;
  const store::Clock& clock_;
  const Duration timeout_;
  std::atomic<Duration> valid_for_;
  std::atomic<Listener*> listener_ = nullptr;
  std::atomic<std::int64_t> session_ = 0;
  std::atomic<std::uint64_t> connection_ = 1;
  std::atomic<std::uint64_t> questions_ = 0;
  std::atomic<bool> kept_valid_ = false;
  std::atomic<bool> lose_next_ = false;

  struct Removal {
    std::string path;
    std::int64_t session;
    std::function<void()> done;
  };
  mutable std::mutex mutex_;
  Wire wire_ = Wire::up;
  bool closed_ = false;
  std::deque<Task> held_;
  std::vector<Removal> removals_;
  std::map<std::string, std::vector<std::string>> old_listings_;
  std::map<zk::Op, zk::Code> refused_;
};

}  // namespace holdfast::test
