// holdfast-torture: see help_text().
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/history_text.hpp"
#include "support/child_process.hpp"
#include "torture/bugs.hpp"
#include "torture/conductor.hpp"
#include "torture/report.hpp"
#include "torture/scene.hpp"

namespace holdfast::torture {
namespace {

constexpr int kWell = 0, kViolated = 1, kCouldNot = 2, kUsage = 64;

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text << std::flush)) throw std::runtime_error("cannot write " + path.string());
}

void write_reports(const std::filesystem::path& folder, const RunReport& report,
                   const Gathered& gathered) {
  std::filesystem::create_directories(folder);
  write_file(folder / "report.txt", to_text(report));
  write_file(folder / "report.json", to_json(report));
  write_file(folder / "timeline.svg", timeline_of(report, gathered));
  std::ofstream history(folder / "history.txt");
  check::write(history, gathered.history);
  if (!history.flush()) throw std::runtime_error("cannot write the history");
}

int run(const Options& options) {
  const auto scene = scene_of(options.url);
  const Gathered gathered = Conductor(options, *scene).run();
  const RunReport report = report_on(options, scene->url(), gathered);
  if (!options.report.empty()) write_reports(options.report, report, gathered);
  std::fputs((options.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return report.ok() ? kWell : kViolated;
}

}  // namespace

int start(const std::vector<std::string>& arguments) {
  Parsed parsed = parse(arguments);
  if (parsed.error.empty() && !plant(parsed.options.bug)) {
    parsed.error = "this program has no bug " + parsed.options.bug;
  }
  if (!parsed.error.empty()) {
    std::fprintf(stderr, "holdfast-torture: %s; see --help\n", parsed.error.c_str());
    return kUsage;
  }
  if (parsed.options.help) {
    std::fputs(help_text().c_str(), stdout);
    return kWell;
  }
  try {
    return run(parsed.options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "holdfast-torture: %s\n", error.what());
    return kCouldNot;
  }
}

}  // namespace holdfast::torture

int main(int argc, char** argv) {
  if (const auto code = holdfast::test::run_role(argc, argv)) return *code;
  return holdfast::torture::start({argv + 1, argv + argc});
}
