#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast {

// A task that takes locks: a request, a job, a coroutine. Give its address in AcquireOptions::owner
// and a second acquire of a lock it holds already answers Errc::would_deadlock instead of waiting
// for itself for ever.
//
// Guarantees   Its id is unique in this process and never reused.
// Threads      From any thread; it belongs to no thread.
class Owner {
 public:
  Owner() : id_(next_id()) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  std::uint64_t id() const { return id_; }

 private:
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  std::uint64_t id_;
};

}  // namespace holdfast
