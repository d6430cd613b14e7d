// One client of the store under torture, with a witness between the two.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "holdfast/client.hpp"
#include "holdfast/store/capabilities.hpp"
#include "torture/log.hpp"
#include "torture/witness_store.hpp"

namespace holdfast::torture {

// How clients are made in a run. Throws std::runtime_error if the store cannot be opened.
struct Doorway {
  std::string url;
  Duration answer_within{};
};

store::Capabilities capabilities_of(const Doorway&);

// Clients of one process are numbered from a thousand times the number of the process.
inline constexpr std::uint32_t kClientsPerProcess = 1000;
inline std::uint32_t process_of(std::uint32_t client) { return client / kClientsPerProcess; }
// What a client calls itself in the store, and back; 0 if it is none of ours.
std::string program_of(std::uint32_t client);
std::uint32_t client_from(const std::string& program);

struct Session {
  Session(const Doorway&, Log&, std::uint32_t number);

  const std::uint32_t number;
  const std::shared_ptr<Sightings> seen;
  std::optional<Client> client;  // none once it was closed
};

// A place for one client after the other.
//
// Threads      From any thread.
class Seat {
 public:
  using Open = std::function<std::shared_ptr<Session>()>;
  explicit Seat(Open open) : open_(std::move(open)), session_(open_()) {}

  std::shared_ptr<Session> session() {
    const std::lock_guard lock(mutex_);
    return session_;
  }
  // use(client) while it is open, or not at all; it must not wait for a lock.
  template <class Use>
  bool with(Session& session, Use use) {
    const std::lock_guard lock(mutex_);
    if (!session.client) return false;
    use(*session.client);
    return true;
  }
  // Closes the client while its callers wait, and opens another. Returns the number of the old one.
  std::uint32_t reopen();

 private:
  const Open open_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;
};

}  // namespace holdfast::torture
