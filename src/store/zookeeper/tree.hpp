// What the locks need of ZooKeeper: a tree of small nodes, asked by one client over one session. Below this
// line is the protocol (Session), above it are the locks; tests put a tree in memory in its place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "holdfast/store/blocked_caller.hpp"
#include "holdfast/store/replies.hpp"
#include "holdfast/time.hpp"

namespace holdfast::store::zookeeper {

enum class Op : std::uint8_t {
  create,
  create_container,
  remove,
  exists,
  get_data,
  set_data,
  get_children,
  sync,
  check,
};

enum class Mode : std::uint8_t { persistent, ephemeral, ephemeral_sequential };

struct Stat {
  std::int64_t czxid = 0;  // of its creation, of its last data, of its last change of children
  std::int64_t mzxid = 0;
  std::int64_t pzxid = 0;
  std::int64_t ctime_ms = 0;
  std::int64_t mtime_ms = 0;
  std::int32_t version = 0;
  std::int32_t cversion = 0;
  std::int64_t ephemeral_owner = 0;  // the session it ends with; 0: with none
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;

  friend bool operator==(const Stat&, const Stat&) = default;
};

struct Request {
  Op op = Op::exists;
  std::string path{};
  std::string data{};            // create, set_data
  Mode mode = Mode::persistent;  // create
  std::int32_t version = -1;     // remove, set_data, check; -1: any
  bool watch = false;            // exists, get_data, get_children: tell once when that changes
};

// Changes nothing, and is agreed to by a majority of the servers like every change. What is read behind it shows all that
// was agreed to before it was sent. A sync is answered by what our server takes for the leader: one that the others have
// deposed, and that has not heard of it, goes on answering.
inline Request agreement() { return {.op = Op::check, .path = "/"}; }

// How one request went.
enum class Code : std::uint8_t {
  ok,
  no_node,
  node_exists,
  bad_version,
  not_empty,
  no_children_for_ephemerals,
  no_auth,
  too_large,
  other,
};

struct Reply {
  Code code = Code::ok;
  std::int64_t zxid = 0;
  std::string path{};                   // create: with the number that the server appended
  std::string data{};                   // get_data
  std::vector<std::string> children{};  // get_children: names, in no order
  Stat stat{};           // create, exists, get_data, set_data; get_children: the parent's
  std::int32_t raw = 0;  // the server's number for the code
};

// Of a watch.
enum class Event : std::uint8_t { created, deleted, data_changed, children_changed };

// In the order asked; each may have failed by itself.
struct Answers {
  std::int64_t session = 0;      // in which all of it was done
  std::uint64_t connection = 0;  // over which; each has another number
  std::vector<Reply> replies{};
};
using Outcome = std::variant<NoAnswer, Answers>;

// One client's view of the tree, over one session at a time.
//
// Guarantees   What one client asks is done in the order in which it asked. What a watch saw is told before the answer
//              to anything that was done later, if the watch was set over the same connection.
// Threads      All members from any thread. Answers and the listener are called on any thread, no lock
//              held; ask() may answer before it returns.
// Lifetime     close() answers every open question with NoAnswer; when it has returned nobody is called
//              any more.
class Tree {
 public:
  class Listener {
   public:
    // What a watch on this path waited for. One that was deleted is gone for certain, also if it was seen
    // only when the connection was made anew.
    virtual void fired(const std::string& path, Event) = 0;
    // All nodes of that session are gone or dying, and so are its watches.
    virtual void session_ended(std::int64_t session) = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~Tree() = default;

  // Before the first question.
  virtual void listen(Listener&) = 0;

  // All of them are sent back to back over the one connection, and answered once, together. A connection
  // that breaks, a session that ends, or silence until the deadline: NoAnswer, with executed = false
  // only if nothing was sent. `waits`: the caller is going to block for the answer (Call::may_block).
  // `only_in`: a session, or 0; NoAnswer{executed = false} at once if it is another one by now.
  virtual void ask(std::vector<Request>, TimePoint deadline, bool waits, std::int64_t only_in,
                   std::function<void(Outcome)>) = 0;
  // The same, all or nothing (create, remove, set_data and check only). If one fails none was done, its
  // reply has the reason and those of the others have another code than ok.
  virtual void ask_as_one(std::vector<Request>, TimePoint deadline, bool waits,
                          std::int64_t only_in, std::function<void(Outcome)>) = 0;
  // Deletes it, again and again while that session lives; no_node is success. Returns at once. `done`
  // (may be empty) when it is certain: it is deleted, or the session has ended.
  virtual void remove_for_sure(std::string path, std::int64_t session,
                               std::function<void()> done) = 0;
  // Watches set by `watch` on this path are not wanted any more. What has fired may still be told.
  virtual void leave_watch(const std::string& path) = 0;

  // Whether anybody holds or waits. As long as somebody does, valid_until() is kept in the future.
  virtual void keep_valid(bool wanted) = 0;
  virtual std::int64_t session() const = 0;      // 0: none yet, or the last one has ended
  virtual std::uint64_t connection() const = 0;  // the last one, as in Answers
  // While this is in the future nobody else can have been granted what our ephemeral nodes stand for. The
  // allowance for clocks has been taken off.
  virtual TimePoint valid_until() const = 0;
  virtual Duration timeout() const = 0;  // of the session, as the server granted it

  // As Store's.
  virtual bool drive(const std::shared_ptr<BlockedCaller>&) { return false; }
  virtual void interrupt(const BlockedCaller&) {}
  virtual void close() = 0;
};

}  // namespace holdfast::store::zookeeper
