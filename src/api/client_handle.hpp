#pragma once

#include <memory>

#include "holdfast/client.hpp"
#include "runtime/driver.hpp"

namespace holdfast::detail {

// What Clients and Mutexes share: as long as one of them lives, new claims can be made.
class ClientHandle {
 public:
  ClientHandle(std::shared_ptr<runtime::Driver> driver, std::uint64_t generation)
      : driver_(std::move(driver)), generation_(generation) {}
  ClientHandle(const ClientHandle&) = delete;
  ClientHandle& operator=(const ClientHandle&) = delete;
  ~ClientHandle();

  static Client make_client(std::shared_ptr<runtime::Driver>);

  const std::shared_ptr<runtime::Driver>& driver() const { return driver_; }
  std::uint64_t generation() const { return generation_; }  // ForkWord's, when it was made
  bool forked() const;

 private:
  std::shared_ptr<runtime::Driver> driver_;
  std::uint64_t generation_;
};

}  // namespace holdfast::detail
