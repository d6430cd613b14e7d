#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "support/temp_folder.hpp"

namespace holdfast::test {

// Files in PEM form.
struct Papers {
  std::string certificate;
  std::string key;
};

struct Subject {
  std::string names = "DNS:localhost,IP:127.0.0.1";       // it is good for these
  std::chrono::seconds good_for = std::chrono::hours(1);  // negative: no more
};

// A certificate authority of a test's own, with what it has signed; the files go with it.
//
// On error     Throws: a test cannot go on without.
class TestAuthority {
 public:
  TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;
  ~TestAuthority();

  std::string certificate() const { return folder_ / "authority.pem"; }
  Papers issue(const Subject& = {});

 private:
  struct Identity;
  const TempFolder folder_;
  int issued_ = 0;
  std::unique_ptr<Identity> self_;
};

}  // namespace holdfast::test
