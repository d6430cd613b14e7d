#include "cli/bench/rival.hpp"

#include <sstream>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include "cli/boot_now.hpp"
#include "cli/chosen_store.hpp"
#include "cli/command.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPatience = 1min;
constexpr Duration kBetween = 5ms;

bool told_to_end() {
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  return poll(&ready, 1, 0) > 0;
}

std::string waits_until_told(const Mutex& mutex) {
  std::string waits;
  while (!told_to_end()) {
    const TimePoint asked = boot_now();
    auto hold = mutex.acquire({.wait = kPatience});
    if (!hold) throw Refusal(hold.error());
    waits += std::to_string((boot_now() - asked).count()) + " ";
    if (auto released = hold->release(); !released) throw Refusal(released.error());
    std::this_thread::sleep_for(kBetween);
  }
  return waits;
}

int rival(const Arguments& arguments) {
  serve_partner();
  const Client client = ChosenStore(Arguments()).connect({.program = "rival"});
  const Mutex mutex = client.mutex(arguments.value("lock").value_or("holdfast-bench"));
  print("ready\n");
  while (!hear_from_starter().empty()) {  // "begin"
    const std::string waits = waits_until_told(mutex);
    if (hear_from_starter().empty()) break;  // "end"
    print(waits + "\n");
  }
  return exit_code::kDone;
}

}  // namespace

Rival::Rival(const std::string& lock, const std::string& store_url)
    : process_({"__rival", "--lock", lock}, store_url) {
  process_.hear(kPatience);
}

void Rival::begin() { process_.tell("begin"); }

std::vector<Duration> Rival::end() {
  process_.tell("end");
  std::istringstream line(process_.hear(kPatience));
  std::vector<Duration> waits;
  for (Duration::rep ns = 0; line >> ns;) waits.emplace_back(ns);
  return waits;
}

Command rival_command() {
  return {.name = "__rival",
          .synopsis = "__rival",
          .summary = "for holdfast bench",
          .options = {{'\0', "lock", "NAME", ""}},
          .run = rival};
}

}  // namespace holdfast::cli
