#pragma once

#include <array>
#include <cstdint>

#include "support/net/pipe.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {

// One connection through a Proxy: two sockets that do not block, and a pipe for each direction.
class Link {
 public:
  using RulesOfBoth = std::array<Rules, 2>;  // by Way

  Link(transport::Fd client, transport::Fd server, const RulesOfBoth& rules, std::uint64_t seed);

  // Moves what can be moved now.
  void pump(Pipe::Time now);
  Pipe::Time due() const;  // when to do so although no socket has news
  bool over() const { return over_; }
  void reset();  // both ends; it is over then

  Pipe& pipe(Way way) { return pipes_[static_cast<std::size_t>(way)]; }
  const Pipe& pipe(Way way) const { return pipes_[static_cast<std::size_t>(way)]; }
  int socket_to(Way way) const { return sockets_[static_cast<std::size_t>(way)].get(); }

 private:
  bool read(Way, Pipe::Time now);
  bool write(Way, Pipe::Time now);

  std::array<transport::Fd, 2> sockets_;  // by the way that leads to them
  std::array<Pipe, 2> pipes_;
  std::array<bool, 2> full_{};  // the receiver takes no more now; its socket will have news
  bool over_ = false;
};

}  // namespace holdfast::test
