#include "support/processes/descriptors.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/soon.hpp"
#include "support/stopwatch.hpp"
#include "transport/fd.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;
using transport::Fd;

// ---- handed on ----

// Tells what it has beside its pipes and stderr.
const Role kLists("lists descriptors", [](Parent& parent, const Words&) {
  std::multiset<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    if (std::stoi(entry.path().filename()) <= 2) continue;
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry, gone).string();
    if (target.find("/proc/") == target.npos) all.insert(target);
  }
  std::string line = "has";
  for (const std::string& each : all) line += " " + each;
  parent.tell(line);
});

std::string what_a_child_has() { return ChildProcess(kLists).hear(); }

}  // namespace

void expect_no_descriptor_handed_on(const std::string& url) {
  const std::string usual = what_a_child_has();
  {
    const Fd handed_on(::open("/dev/null", O_RDONLY));  // not O_CLOEXEC
    ASSERT_NE(what_a_child_has(), usual) << "it would not be seen";
  }
  const Client alice = connect(url).value();
  const Client bob = connect(url).value();
  const Hold held = alice.mutex("held").acquire({.lease = 1s}).value();
  const auto waiting = bob.mutex("held").async_acquire();
  std::atomic<bool> enough = false;
  std::thread others([&] {
    while (!enough) {
      const Client passing = connect(url).value();
      static_cast<void>(passing.mutex("other").acquire());
      static_cast<void>(passing.inspect());
    }
  });
  for (int i = 0; i < (kSanitized ? 10 : 40); ++i) EXPECT_EQ(what_a_child_has(), usual);
  enough = true;
  others.join();
}

// ---- none left ----

namespace {

constexpr std::chrono::milliseconds kLease = kSanitized ? 4s : 1500ms;

// All that there are, but some.
std::vector<Fd> take_all() {
  const rlimit few{100, 100};
  ::setrlimit(RLIMIT_NOFILE, &few);
  std::vector<Fd> all;
  for (Fd next; (next = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));) {
    all.push_back(std::move(next));
  }
  return all;
}

template <class T>
std::string told(const Result<T>& result) {
  return result ? "well" : result.error().text();
}

// Arguments: URL. Tells how it went, line by line.
const Role kHasNoneLeft("has no descriptors left", [](Parent& parent, const Words& arguments) {
  const std::string url = arguments.at(0);
  const Client alice = connect(url).value();
  const Client bob = connect(url).value();
  Hold hold = alice.mutex("held").acquire({.lease = kLease}).value();
  ASSERT_TRUE(bob.mutex("another").acquire()) << "it has begun, too";
  auto waiting = bob.mutex("held").async_acquire();
  std::vector<Fd> all = take_all();

  const Stopwatch watch;
  while (watch.elapsed() < 2 * kLease) ::usleep(10'000);
  parent.tell(hold.valid() ? "valid" : "lost");
  parent.tell(told(hold.verify()));
  parent.tell(told(alice.mutex("another").try_acquire()));
  parent.tell(told(hold.release()));
  parent.tell(told(std::move(waiting).get_for(kSoon)));

  // One more is free each time, until there are enough.
  for (Result<Client> client = connect(url); !all.empty(); client = connect(url)) {
    parent.tell(told(client));
    if (client) break;
    all.pop_back();
  }
});

}  // namespace

void expect_to_go_on_without_descriptors(const std::string& url) {
  // It looks at memory through a pipe, and takes what it cannot look at for broken.
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs descriptors itself";
  ChildProcess child(kHasNoneLeft, {url});
  EXPECT_EQ(child.hear(), "valid");
  EXPECT_EQ(child.hear(), "well") << "verified";
  EXPECT_EQ(child.hear(), "well") << "another one acquired";
  EXPECT_EQ(child.hear(), "well") << "released";
  EXPECT_EQ(child.hear(), "well") << "acquired by the one who waited";
  int refusals = 0;
  std::string last;
  while ((last = child.hear()) != "" && last != "well") {
    ++refusals;
    EXPECT_THAT(last, AnyOf(StartsWith("unavailable: "), StartsWith("cannot start the loop")));
    EXPECT_THAT(last, HasSubstr("Too many open files"));
  }
  EXPECT_EQ(last, "well");
  EXPECT_GT(refusals, 3) << "loop and store need more than that";
  EXPECT_EQ(child.exit_code(), 0);
}

}  // namespace holdfast::test
