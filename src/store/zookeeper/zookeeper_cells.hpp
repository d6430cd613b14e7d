#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "holdfast/store/cells.hpp"
#include "store/zookeeper/ground.hpp"

namespace holdfast::store::zookeeper {

// Cells: one node each, which stays. Its data are read, changed, and written if they are still the same; else once
// more.
//
// Lifetime     A watch may outlive it, after close().
// Threads      From any thread.
class ZookeeperCells final : public Cells {
 public:
  explicit ZookeeperCells(Ground& ground) : ground_(ground), state_(std::make_shared<State>()) {}

  void read(const CellKey&, Call<CellReply>) override;
  void write(const CellWrite&, Call<CellReply>) override;
  void add(const CellAdd&, Call<CellReply>) override;
  WatchPtr watch(const CellKey&, CellChangedFn) override;

  void fired(const std::string& path);
  void session_ended();
  void close();

 private:
  class Subscription;
  using Function = std::shared_ptr<const CellChangedFn>;
  struct Watched {
    std::map<std::uint64_t, Function> told;
    bool is_set = false;      // in the tree, or will be in a moment
    std::uint64_t asked = 0;  // which question sets it
  };
  struct State {
    std::mutex mutex;
    std::map<std::string, Watched> by_path;
    std::uint64_t last = 0;
    bool closed = false;
  };

  enum class Tell : std::uint8_t { no, when_set };
  void set_watch(const std::string& path, Tell);
  void could_not_watch(const std::string& path, std::uint64_t asked);
  void tell(const std::string& path);

  Ground& ground_;
  const std::shared_ptr<State> state_;
};

}  // namespace holdfast::store::zookeeper
