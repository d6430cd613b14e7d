// What a command inherits from us.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "cli/support/cli_test.hpp"
#include "gmock/gmock.h"

namespace holdfast::cli_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Targets = std::vector<std::string>;

// One line for each descriptor, in the order of their names.
Targets sorted_lines(const std::string& text) {
  std::istringstream lines(text);
  Targets found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  std::sort(found.begin(), found.end());
  return found;
}

class Descriptors : public CliTest {
 protected:
  // Not those of its output, which goes into another file each time.
  Targets besides_output(Targets all) const {
    std::erase_if(all, [this](const std::string& target) {
      return target.starts_with(file("out").string()) || target.starts_with(file("err").string());
    });
    return all;
  }

  // Those that a process has beyond the ones that this program's children have anyway.
  Targets beyond_usual(Targets all) const {
    Spawned plain({"/bin/sh", "-c", kList}, setup());
    plain.exit_code();
    Targets beyond;
    all = besides_output(std::move(all));
    const Targets usual = besides_output(sorted_lines(plain.out()));
    std::set_difference(all.begin(), all.end(), usual.begin(), usual.end(),
                        std::back_inserter(beyond));
    return beyond;
  }

  static Targets of(pid_t pid) {
    std::string text;
    const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      text += std::filesystem::read_symlink(entry).string() + "\n";
    }
    return sorted_lines(text);
  }

  static constexpr const char* kList = "readlink /proc/$$/fd/*; true";
};

TEST_F(Descriptors, ACommandInheritsTheLifelineAndNothingElse_F024) {
  Spawned job = start_script({"a"}, kList);
  EXPECT_EQ(job.exit_code(), 0);
  EXPECT_THAT(beyond_usual(sorted_lines(job.out())), ElementsAre(HasSubstr("/locks.db.d/s-")));
}

TEST_F(Descriptors, OnAStoreWithoutALifelineACommandInheritsNothing_F024) {
  Spawned job = start_script({"-S", "dir:" + folder_.string(), "a"}, kList);
  EXPECT_EQ(job.exit_code(), 0);
  EXPECT_THAT(beyond_usual(sorted_lines(job.out())), ElementsAre());
}

// It has its own, but none of the store.
TEST_F(Descriptors, TheGuardianInheritsTheLifelineAndItsSocket_F024) {
  Spawned run = holder({"a"}, "in");
  ASSERT_TRUE(written("in"));
  Targets left = beyond_usual(of(guardian_of(run.pid())));
  std::erase_if(left, [](const std::string& target) { return target.starts_with("anon_inode:"); });
  ASSERT_EQ(left.size(), 2U) << testing::PrintToString(left);
  EXPECT_THAT(left[0], HasSubstr("/locks.db.d/s-"));
  EXPECT_THAT(left[1], HasSubstr("socket:"));
  let_go("in");
  EXPECT_EQ(run.exit_code(), 0);
}

}  // namespace
}  // namespace holdfast::cli_tests
