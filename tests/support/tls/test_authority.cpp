#include "support/tls/test_authority.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <stdexcept>

namespace holdfast::test {
namespace {

struct Free {
  void operator()(EVP_PKEY* it) const { EVP_PKEY_free(it); }
  void operator()(X509* it) const { X509_free(it); }
  void operator()(X509_EXTENSION* it) const { X509_EXTENSION_free(it); }
  void operator()(std::FILE* it) const { std::fclose(it); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void must(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("no test certificate: ") + what);
}

Owned<std::FILE> new_file(const std::string& path) {
  Owned<std::FILE> file(std::fopen(path.c_str(), "we"));
  must(file != nullptr, path.c_str());
  return file;
}

void add_extension(X509& certificate, int which, const std::string& value) {
  const Owned<X509_EXTENSION> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, which, value.c_str()));
  must(extension && X509_add_ext(&certificate, extension.get(), -1) == 1, value.c_str());
}

void call_it(X509_NAME* name, const std::string& text) {
  must(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                  reinterpret_cast<const unsigned char*>(text.c_str()), -1, -1,
                                  0) == 1,
       "a name");
}

}  // namespace

struct TestAuthority::Identity {
  Owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
  Owned<X509> certificate{X509_new()};

  Identity(long serial, const std::string& name, std::chrono::seconds good_for) {
    must(key && certificate, "memory");
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -24 * 3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), static_cast<long>(good_for.count()));
    X509_set_pubkey(certificate.get(), key.get());
    call_it(X509_get_subject_name(certificate.get()), name);
  }

  void sign_with(const Identity& authority) const {
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority.certificate.get()));
    must(X509_sign(certificate.get(), authority.key.get(), EVP_sha256()) != 0, "the signature");
  }

  void write(const std::string& path) const {
    must(PEM_write_X509(new_file(path).get(), certificate.get()) == 1, path.c_str());
  }
  void write_key(const std::string& path) const {
    must(PEM_write_PrivateKey(new_file(path).get(), key.get(), nullptr, nullptr, 0, nullptr,
                              nullptr) == 1,
         path.c_str());
  }
};

TestAuthority::TestAuthority()
    : self_(std::make_unique<Identity>(1, "authority of a test", std::chrono::hours(1))) {
  add_extension(*self_->certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(*self_->certificate, NID_key_usage, "critical,keyCertSign");
  self_->sign_with(*self_);
  self_->write(certificate());
}

TestAuthority::~TestAuthority() = default;

Papers TestAuthority::issue(const Subject& subject) {
  const std::string number = std::to_string(++issued_);
  const Identity identity(issued_ + 1, "subject " + number, subject.good_for);
  add_extension(*identity.certificate, NID_subject_alt_name, subject.names);
  identity.sign_with(*self_);
  Papers papers{folder_ / ("certificate-" + number + ".pem"), folder_ / ("key-" + number + ".pem")};
  identity.write(papers.certificate);
  identity.write_key(papers.key);
  return papers;
}

}  // namespace holdfast::test
