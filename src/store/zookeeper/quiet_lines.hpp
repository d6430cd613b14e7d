// Lines in which nobody but this client has stood for a while. Whoever joins one of those need not read it.
//
// A server numbers whatever is made below a node one by one. So if ours was alone there and was deleted, and the next
// one that we make has the next number, nobody came between: it is alone, too. But numbers begin anew when the parent
// has gone and is made again, and might happen to fit. So the parent is watched: what a watch sees is told before the
// answer to anything that was done later, over the same connection. Over another one nothing is known.
//
//   a line                          the next attempt asks for
//   not known                       node, list
//   quiet: alone again and again    node, watch of the parent, list
//   quiet and watched               node. Not the next number: list, and it takes longer to be quiet again
//   one of ours still stands there  node, list
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "store/zookeeper/wanted_watches.hpp"

namespace holdfast::store::zookeeper {

// On error     Without memory a line is not known.
// Threads      From any thread.
class QuietLines {
 public:
  explicit QuietLines(WantedWatches& watches) : watches_(watches) {}

  // What to ask for along with a new node, in this order.
  struct Look {
    std::uint64_t watch = 0;  // of the parent, and the number of this wish; 0: none
    bool list = true;
  };
  Look next_look(const std::string& line, std::uint64_t connection);

  // One of ours that was made there.
  struct Made {
    std::string_view node;  // its path
    std::uint64_t connection = 0;
    std::int64_t session = 0;
  };
  // Whether it is the only one there, by its number. False: nobody knows.
  bool is_alone(const std::string& line, const Made&);
  // What was seen behind it, if the line was read.
  struct Seen {
    bool alone = false;
    bool watch_set = false;  // if there was one in the Look
  };
  void was_read(const std::string& line, const Made&, const Look&, const Seen&);
  // The watch in that Look was not set, or nobody told whether it was. Without a word its place would stay taken.
  void gave_up(const std::string& line, const Look&);

  // Ours is about to be deleted; it was.
  void leaves(std::string_view node) { set_end(node, End::asked_for); }
  void left(std::string_view node) { set_end(node, End::certain); }
  // Of any watch.
  void fired(std::string_view path);
  // Its parent is not there: a watch of it would be one of its creation, and fire when we make it ourselves.
  void gone(std::string_view line) { fired(line); }
  // Nothing that was watched in it will fire any more.
  void session_ended(std::int64_t session);

 private:
  enum class End : std::uint8_t { not_yet, asked_for, certain };
  // `kept`: set over another connection, and so perhaps over this one, too.
  enum class Watch : std::uint8_t { none, kept, asked_for, stands };

  // The least of them that make a line quiet, of nodes in a row that were alone and had the next number. Where others
  // come by now and then a wrong guess costs a round trip, and each right one saves the servers a reading.
  static constexpr int kLeast = 2;
  static constexpr int kMost = 64;
  static constexpr std::int64_t kNone = -2;  // and not the one before the first

  struct Known {
    std::uint64_t connection = 0;
    std::int64_t session = 0;
    std::string node{};  // the last one of ours, if it was alone
    std::int64_t number = kNone;
    End end = End::not_yet;
    int in_a_row = 0;
    int enough = kLeast;
    Watch watch = Watch::none;  // any other is one of watched_
    std::uint64_t wish = 0;

    bool is_quiet() const { return in_a_row >= enough; }
    void take(std::string_view its_node, std::int64_t its_number);
    void be_wary();
  };
  using Lines = std::map<std::string, Known, std::less<>>;

  // With the mutex.
  Known& begin_anew(const std::string& line, const Made&);
  void end_watch(const std::string& line, Known&);
  void note_watch(const std::string& line, Known&, const Look&, bool is_set);
  void set_end(std::string_view node, End);

  WantedWatches& watches_;
  std::mutex mutex_;
  std::uint64_t last_wish_ = 0;
  Lines lines_;
  std::size_t watched_ = 0;
};

}  // namespace holdfast::store::zookeeper
