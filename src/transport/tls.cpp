#include "transport/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "holdfast/store/lock_name.hpp"
#include "transport/socket_io.hpp"

namespace holdfast::transport {
namespace {

struct Free {
  void operator()(SSL_CTX* it) const { SSL_CTX_free(it); }
  void operator()(SSL* it) const { SSL_free(it); }
};
using Context = std::unique_ptr<SSL_CTX, Free>;
using Session = std::unique_ptr<SSL, Free>;

std::string last_reason() {
  std::string reason = "no reason given";
  while (const unsigned long code = ERR_get_error()) {  // the last one is the outermost
    if (const char* text = ERR_reason_error_string(code)) reason = text;
  }
  return reason;
}

Error unusable(const std::string& what, const std::string& file) {
  return Error(Errc::invalid_argument,
               "the " + what + " " + store::printable(file) + " cannot be used: " + last_reason());
}

// If we are the first to use it, OpenSSL does not put itself away when the process exits: connections may be needed
// after that, by clients that are static, and by their threads until they end.
Result<Context> context_for(const TlsSettings& settings) {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  Context context(SSL_CTX_new(TLS_client_method()));
  if (!context) return Error(Errc::out_of_memory);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (settings.verify) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (settings.ca_file.empty()) {
      SSL_CTX_set_default_verify_paths(context.get());
    } else if (SSL_CTX_load_verify_locations(context.get(), settings.ca_file.c_str(), nullptr) !=
               1) {
      return unusable("list of authorities", settings.ca_file);
    }
  }
  if (!settings.cert_file.empty()) {
    if (SSL_CTX_use_certificate_chain_file(context.get(), settings.cert_file.c_str()) != 1) {
      return unusable("certificate", settings.cert_file);
    }
    if (SSL_CTX_use_PrivateKey_file(context.get(), settings.key_file.c_str(), SSL_FILETYPE_PEM) !=
        1) {
      return unusable("key", settings.key_file);
    }
  }
  return context;
}

// OpenSSL works on memory; what goes over the socket is moved here, where no write raises SIGPIPE and a
// reader does not stop a writer. Its session takes one thread at a time, hence the mutex.
class TlsStream final : public Stream {
 public:
  TlsStream(Fd fd, Context context, Session session)
      : Stream(std::move(fd)), context_(std::move(context)), session_(std::move(session)) {
    SSL_set_bio(session_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));  // it owns them
  }

  Result<void> shake_hands(const WaitFor& wait_for) {
    for (;;) {
      const int done = SSL_connect(session_.get());
      const int why = done == 1 ? SSL_ERROR_NONE : SSL_get_error(session_.get(), done);
      if (!flush_all(wait_for)) return gone("it did not take what we sent");
      if (why == SSL_ERROR_NONE) return {};
      if (why != SSL_ERROR_WANT_READ) return refused();
      if (!wait_for(fd(), POLLIN)) return gone("it did not answer in time");
      std::string bytes;
      const Went how = receive_some(fd(), bytes);
      if (how == Went::wrong) return gone("it hung up");
      if (how == Went::well) take_in(bytes);
    }
  }

  Went read(std::string& into) override {
    std::string bytes;
    const Went how = receive_some(fd(), bytes);
    if (how != Went::well) return how;
    const std::lock_guard lock(mutex_);
    take_in(bytes);
    std::array<char, 16 * 1024> plain;
    int got = 0;
    while ((got = SSL_read(session_.get(), plain.data(), static_cast<int>(plain.size()))) > 0) {
      into.append(plain.data(), static_cast<std::size_t>(got));
    }
    const int why = SSL_get_error(session_.get(), got);
    ERR_clear_error();
    take_out();
    send_some(fd(), coded_);  // what the protocol itself has to say; a writer sends the rest
    return why == SSL_ERROR_WANT_READ ? Went::well : Went::wrong;
  }

  Went write(std::string& from) override {
    const std::lock_guard lock(mutex_);
    if (!from.empty() && coded_.size() < kAhead) {
      const int taken =
          SSL_write(session_.get(), from.data(), static_cast<int>(std::min(from.size(), kAhead)));
      ERR_clear_error();
      if (taken <= 0) return Went::wrong;  // memory takes everything
      from.erase(0, static_cast<std::size_t>(taken));
    }
    take_out();
    return send_some(fd(), coded_);
  }

 private:
  static constexpr std::size_t kAhead = 256 * 1024;

  void take_in(const std::string& bytes) {
    BIO_write(SSL_get_rbio(session_.get()), bytes.data(), static_cast<int>(bytes.size()));
  }

  void take_out() {
    std::array<char, 16 * 1024> bytes;
    int got = 0;
    while ((got = BIO_read(SSL_get_wbio(session_.get()), bytes.data(),
                           static_cast<int>(bytes.size()))) > 0) {
      coded_.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }

  bool flush_all(const WaitFor& wait_for) {
    take_out();
    while (!coded_.empty()) {
      const Went how = send_some(fd(), coded_);
      if (how == Went::wrong || (how == Went::again && !wait_for(fd(), POLLOUT))) return false;
    }
    return true;
  }

  static Error gone(const char* why) {
    return Error(Errc::unavailable, std::string("the server does not agree on TLS: ") + why);
  }

  Error refused() const {
    const long verdict = SSL_get_verify_result(session_.get());
    if (verdict != X509_V_OK) {
      ERR_clear_error();
      return Error(Errc::permission,
                   std::string("the server's certificate is not trusted: ") +
                       X509_verify_cert_error_string(verdict) +
                       "; give the authority with ca=FILE, or the name that it was made "
                       "for with server_name=NAME");
    }
    return Error(Errc::unavailable, "the server does not agree on TLS: " + last_reason());
  }

  const Context context_;
  const Session session_;
  std::mutex mutex_;
  std::string coded_;  // to be sent
};

}  // namespace

Result<std::unique_ptr<Stream>> tls_stream(Fd fd, const TlsSettings& settings,
                                           const std::string& host, const WaitFor& wait_for) {
  ERR_clear_error();
  auto context = context_for(settings);
  if (!context) return context.error();
  Session session(SSL_new(context->get()));
  if (!session) return Error(Errc::out_of_memory);
  const std::string& name = settings.server_name.empty() ? host : settings.server_name;
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(session.get());
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) != 1) {  // no address: a name
    ERR_clear_error();
    X509_VERIFY_PARAM_set1_host(wanted, name.c_str(), name.size());
    SSL_set_tlsext_host_name(session.get(), name.c_str());
  }
  auto stream = std::make_unique<TlsStream>(std::move(fd), std::move(*context), std::move(session));
  if (auto done = stream->shake_hands(wait_for); !done) return done.error();
  return std::unique_ptr<Stream>(std::move(stream));
}

}  // namespace holdfast::transport
