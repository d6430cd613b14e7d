#pragma once

#include <functional>
#include <memory>
#include <string>

#include "holdfast/result.hpp"
#include "transport/stream.hpp"

namespace holdfast::transport {

struct TlsSettings {
  std::string ca_file{};  // none: the system's
  std::string cert_file{};
  std::string key_file{};
  std::string server_name{};  // none: the host's
  bool verify = true;
};

// Waits until the descriptor is ready for poll(2)'s events; false: not in time, or not any more.
using WaitFor = std::function<bool(int fd, short events)>;

// TLS 1.2 or newer over a connected socket; the server's certificate has to be good for `host`, unless
// the settings say otherwise.
//
// On error     permission for a certificate that is not trusted (either side's), invalid_argument for
//              files that cannot be used, unavailable if the other side does not speak TLS or not in time.
Result<std::unique_ptr<Stream>> tls_stream(Fd, const TlsSettings&, const std::string& host,
                                           const WaitFor&);

}  // namespace holdfast::transport
