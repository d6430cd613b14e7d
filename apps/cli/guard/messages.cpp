#include "cli/guard/messages.hpp"

#include <cerrno>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace holdfast::cli {

template <class Sent, class Received>
bool Link<Sent, Received>::send(const Sent& message) {
  for (;;) {
    const ssize_t sent =
        ::send(socket_.get(), &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(sizeof message)) return true;
    if (sent < 0 && errno == EINTR) continue;
    return false;
  }
}

template <class Sent, class Received>
bool Link<Sent, Received>::send_if_heard(const Sent& message) {
  constexpr int kMostUnread = 16 * 1024;  // of some 200 KiB, in the kernel's way of counting
  int unread = 0;
  if (ioctl(socket_.get(), SIOCOUTQ, &unread) == 0 && unread > kMostUnread) return false;
  return send(message);
}

template <class Sent, class Received>
std::optional<Received> Link<Sent, Received>::receive() {
  for (;;) {
    Received message;
    const ssize_t length = recv(socket_.get(), &message, sizeof message, MSG_DONTWAIT);
    if (length == static_cast<ssize_t>(sizeof message)) return message;
    // ECONNRESET: the other side went without reading all of ours. What it said before is still there.
    if (length < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    if (length < 0 && errno == EAGAIN) return std::nullopt;
    broken_ = true;
    return std::nullopt;
  }
}

template class Link<News, Instruction>;
template class Link<Instruction, News>;

}  // namespace holdfast::cli
