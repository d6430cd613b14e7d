#include "support/rights.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "holdfast/holdfast.hpp"
#include "support/child_process.hpp"

namespace holdfast::test {
namespace {

// Arguments: URL.
const Role kNobodyTries("nobody tries", [](Parent& parent, const Words& arguments) {
  if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) return;
  const auto client = connect(arguments.at(0));
  const auto hold = client ? client->mutex("lock").try_acquire() : client.error();
  parent.tell(hold ? "held" : hold.error().text());
});

}  // namespace

unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

bool can_become_nobody() { return ::geteuid() == 0; }

void give_to_nobody(const std::string& path) {
  ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
}

std::string what_nobody_gets(const std::string& url) {
  return ChildProcess(kNobodyTries, {url}).hear();
}

}  // namespace holdfast::test
