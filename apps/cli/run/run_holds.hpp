#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "holdfast/hold.hpp"
#include "holdfast/result.hpp"
#include "holdfast/time.hpp"

namespace holdfast::cli {

// What `run` holds: a lock for each NAME. It is worth as much as the first of them that is lost.
class RunHolds {
 public:
  void add(Hold);
  std::size_t count() const { return members_.size(); }

  TimePoint valid_until() const;  // the earliest; long ago if one is lost
  Result<void> verify() const;    // asks the store, and so begins each lease anew
  std::stop_token lost() const { return lost_.get_token(); }
  std::string lost_name() const;  // of the first that is; empty if none is
  // Of each, in the order of the names.
  std::vector<std::uint64_t> fences() const;
  std::string fences_text() const;  // "7,12"
  std::string owners() const;
  std::string slots() const;  // "0 3"; of several "0 3,1"
  FencingToken first_fence() const { return members_.front()->hold.fence(); }

  // All of them, the last one first; tells a loss, else the first error.
  Result<void> release();

 private:
  struct Tell {
    std::stop_source lost;
    void operator()() { lost.request_stop(); }
  };
  struct Member {
    Member(Hold taken, const std::stop_source& lost)
        : hold(std::move(taken)), on_lost(hold.lost(), Tell{lost}) {}
    Hold hold;
    std::stop_callback<Tell> on_lost;
  };

  std::stop_source lost_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace holdfast::cli
