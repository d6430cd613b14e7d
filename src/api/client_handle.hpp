#pragma once

#include <memory>
#include <string>

#include "api/cell_desk.hpp"
#include "api/reentrant_holds.hpp"
#include "holdfast/client.hpp"
#include "runtime/driver.hpp"

namespace holdfast::detail {

// What Clients and Mutexes share: as long as one of them lives, new claims can be made.
class ClientHandle {
 public:
  ClientHandle(std::shared_ptr<runtime::Driver> driver, std::uint64_t generation,
               std::string store_id)
      : driver_(std::move(driver)),
        generation_(generation),
        store_id_(std::move(store_id)),
        reentrant_(std::make_shared<ReentrantHolds>(generation)),
        cells_(*driver_) {}
  ClientHandle(const ClientHandle&) = delete;
  ClientHandle& operator=(const ClientHandle&) = delete;
  ~ClientHandle();

  static Client make_client(std::shared_ptr<runtime::Driver>, std::string store_id = {});

  const std::shared_ptr<runtime::Driver>& driver() const { return driver_; }
  std::uint64_t generation() const { return generation_; }  // ForkWord's, when it was made
  bool forked() const;
  const std::string& store_id() const { return store_id_; }  // see store_id()
  const std::shared_ptr<ReentrantHolds>& reentrant() const { return reentrant_; }
  CellDesk& cells() { return cells_; }

 private:
  std::shared_ptr<runtime::Driver> driver_;
  std::uint64_t generation_;
  std::string store_id_;
  std::shared_ptr<ReentrantHolds> reentrant_;
  CellDesk cells_;
};

}  // namespace holdfast::detail
