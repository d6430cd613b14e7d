// What the locks guard: pairs of counters that live in the conductor. A worker asks for each access with
// one message, so that nothing which befalls a worker, at whatever instruction, can damage them, and the
// record of an access is made where it happens.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "checker/history.hpp"
#include "support/twin_counters.hpp"

namespace holdfast::torture {

using Values = test::TwinCounters::Values;

struct Access {
  std::uint32_t client = 0;
  std::uint32_t lock = 0;  // its place in the list of locks
  std::uint64_t fence = 0;
  bool write = false;
  std::uint64_t fenced = 0;  // to be written
  std::uint64_t twin = 0;
};

// A connection of one thread to it.
//
// Blocking     access() makes one round trip to a process that is never stopped.
// Threads      One at a time.
class ResourceLink {
 public:
  explicit ResourceLink(const std::string& path);
  ResourceLink(const ResourceLink&) = delete;
  ResourceLink& operator=(const ResourceLink&) = delete;
  ~ResourceLink();

  Values access(const Access&);

 private:
  int socket_ = -1;
};

// The counters and the thread that serves them.
class ResourceServer {
 public:
  enum class Fences : std::uint8_t { checked, ignored };  // ignored: a bug on purpose

  // Listens on a socket at that path, which must not be there yet.
  ResourceServer(const std::string& path, Fences);
  ResourceServer(const ResourceServer&) = delete;
  ResourceServer& operator=(const ResourceServer&) = delete;
  ~ResourceServer() { stop(); }

  std::uint64_t lost_in_twin() const;  // so far
  // No access is served any more; idempotent.
  void stop();
  // After stop(). `names`: of the locks, in the order of the list.
  void finish(const std::vector<std::string>& names, check::History&) const;

 private:
  struct Recorded {
    Access access;
    check::Time at;
    Values values;
  };

  void serve();
  bool serve_one(int socket);
  Values perform(const Access&);

  const Fences fences_;
  int listener_ = -1;
  int stop_ = -1;  // an eventfd
  std::map<std::uint32_t, test::TwinCounters> counters_;
  std::vector<Recorded> recorded_;
  std::atomic<std::uint64_t> writes_{0};
  std::atomic<std::uint64_t> twins_{0};  // the sum of all twins
  std::thread thread_;
};

}  // namespace holdfast::torture
