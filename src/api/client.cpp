#include "holdfast/client.hpp"

#include "api/client_handle.hpp"
#include "runtime/fork_word.hpp"

namespace holdfast {

namespace detail {

ClientHandle::~ClientHandle() {
  if (!forked()) driver_->close();
}

bool ClientHandle::forked() const { return !runtime::ForkWord::is_current(generation_); }

Client ClientHandle::make_client(std::shared_ptr<runtime::Driver> driver) {
  return Client(std::make_shared<ClientHandle>(std::move(driver), runtime::ForkWord::enter()));
}

}  // namespace detail

Mutex Client::mutex(std::string_view name) const { return Mutex(handle_, std::string(name)); }

}  // namespace holdfast
