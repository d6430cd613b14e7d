#include "cli/support/cli_test.hpp"

#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/guard/processes.hpp"

namespace holdfast::cli_tests {

using nlohmann::json;

void CliTest::SetUp() {
  std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-cli-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

void CliTest::TearDown() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Spawned::Setup CliTest::setup() const {
  return {.environment = {"HOLDFAST_URL=" + url(), "D=" + folder_.string(), "TERM=dumb",
                          "LC_ALL=C.UTF-8", "HOME=" + folder_.string()},
          .folder = folder_};
}

Spawned CliTest::start(const Words& words) const { return start(words, setup()); }

Spawned CliTest::start(const Words& words, Spawned::Setup how) const {
  Words all{HOLDFAST_PROGRAM};
  all.insert(all.end(), words.begin(), words.end());
  return Spawned(all, how);
}

Spawned CliTest::start_script(const Words& options_and_name, const std::string& script) const {
  Words words{"run"};
  words.insert(words.end(), options_and_name.begin(), options_and_name.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return start(words);
}

Spawned CliTest::holder(const Words& options_and_name, const std::string& mark) const {
  return start_script(options_and_name, "echo $$ > $D/" + mark + "; while [ ! -e $D/" + mark +
                                            ".end ]; do sleep 0.02; done");
}

void CliTest::let_go(const std::string& mark) const { std::ofstream(file(mark + ".end")) << "go"; }

Spawned CliTest::done(const Words& words) const {
  Spawned program = start(words);
  program.exit_code();
  return program;
}

testing::AssertionResult CliTest::written(const std::string& name) const {
  if (eventually([&] { return content_of(file(name)).ends_with("\n"); })) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << name << " was not written";
}

pid_t CliTest::pid_in(const std::string& name) const {
  return static_cast<pid_t>(std::atoi(content_of(file(name)).c_str()));
}

std::uint64_t CliTest::fence_of(const std::string& name) const {
  const json lock = json::parse(done({"show", "--json", name}).out());
  return lock["holders"].empty() ? 0 : lock["holders"][0]["fence"].get<std::uint64_t>();
}

testing::AssertionResult CliTest::waiting(const std::string& name, std::size_t count) const {
  const bool there = eventually([&] {
    return json::parse(done({"show", "--json", name}).out())["line"].size() == count;
  });
  if (there) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "there are not " << count << " waiting for " << name;
}

pid_t CliTest::guardian_of(pid_t parent) const {
  for (const cli::Process& process : cli::all_processes()) {
    if (process.parent != parent) continue;
    const std::string line = content_of("/proc/" + std::to_string(process.pid) + "/cmdline");
    if (line.find("__guard") != line.npos) return process.pid;
  }
  return 0;
}

}  // namespace holdfast::cli_tests
