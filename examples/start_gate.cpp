// A start gate: runners get ready, and all start together once the last of them is.
//
//   start_gate [URL]      the store to use; memory: if none is given, to have a look
#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int kRunners = 3;
std::mutex output;

void say(int runner, const std::string& text) {
  const std::lock_guard lock(output);
  std::cout << "runner " << runner << ": " << text << '\n';
}

// Usually a process of its own: all it needs is the name of the gate.
void run(const holdfast::Client& client, const std::string& name, int runner, bool& good) {
  const holdfast::Latch gate = client.latch(name);
  std::this_thread::sleep_for(runner * 10ms);  // gets ready
  const auto left = gate.count_down();
  if (!left) return say(runner, left.error().text());
  say(runner, "ready, " + std::to_string(*left) + " to go");
  if (const auto opened = gate.wait({.wait = 30s}); !opened) {
    return say(runner, opened.error().text());
  }
  say(runner, "off");
  good = true;
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::connect(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().text() << '\n';
    return 1;
  }
  // Each race has a gate of its own, so that a late runner cannot take the next race for this one.
  const std::string name = "race/7/start";
  // Before the first runner comes: a gate that was never set is open. The error tells if another race
  // goes on under this name.
  if (const auto set = client->latch(name).set_count(kRunners); !set) {
    std::cerr << set.error().text() << '\n';
    return 1;
  }
  bool good[kRunners] = {};
  std::vector<std::thread> runners;
  for (int i = 0; i < kRunners; ++i) {
    runners.emplace_back([&, i] { run(*client, name, i, good[i]); });
  }
  for (std::thread& runner : runners) runner.join();
  for (const bool each : good) {
    if (!each) return 1;
  }
  return 0;
}
