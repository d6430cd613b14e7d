#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/support/spawned.hpp"
#include "gtest/gtest.h"

namespace holdfast::cli_tests {

// The real program on a database of its own.
class CliTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  std::string url() const { return "sqlite:" + file("locks.db").string(); }

  using Words = std::vector<std::string>;
  Spawned::Setup setup() const;

  // holdfast WORDS…, in the background.
  Spawned start(const Words&) const;
  Spawned start(const Words&, Spawned::Setup) const;
  // holdfast run OPTIONS… NAME -- sh -c SCRIPT; the script finds its folder in $D.
  Spawned start_script(const Words& options_and_name, const std::string& script) const;
  // A command that runs until it is let go; it writes its pid into a file of that name.
  Spawned holder(const Words& options_and_name, const std::string& mark) const;
  void let_go(const std::string& mark) const;
  // Until its end.
  Spawned done(const Words&) const;

  // Until there is a whole line in that file.
  testing::AssertionResult written(const std::string& name) const;
  pid_t pid_in(const std::string& name) const;
  // The fence that holds a name; 0: nobody.
  std::uint64_t fence_of(const std::string& name) const;
  // Until so many wait for it.
  testing::AssertionResult waiting(const std::string& name, std::size_t count) const;
  // Children of a process, by their command line.
  pid_t guardian_of(pid_t) const;

  std::filesystem::path folder_;
};

}  // namespace holdfast::cli_tests
