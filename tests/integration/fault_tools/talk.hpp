#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/net/address.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {

// A blocking connection of a test. Reading gives up after kSoon.
class Talk {
 public:
  explicit Talk(const Address& to) : Talk(connected_socket(to)) {}
  explicit Talk(transport::Fd socket);

  bool say(std::string_view bytes) const;
  void say_no_more() const;  // half-closes

  std::string hear(std::size_t count) const;  // fewer at the end or a reset
  // How it ended after all that was to be read: "end", "reset" or "silence".
  std::string ending() const;
  bool quiet() const;  // nothing is there to be read now

 private:
  transport::Fd socket_;
};

}  // namespace holdfast::test
