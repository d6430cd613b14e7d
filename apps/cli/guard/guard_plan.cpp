#include "cli/guard/guard_plan.hpp"

#include <charconv>

#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

template <class Number>
Number number(const Arguments& arguments, std::string_view option) {
  const std::string text = arguments.value(option).value_or("");
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw UsageError("this command is for holdfast itself");
  }
  return value;
}

}  // namespace

std::vector<std::string> GuardPlan::words() const {
  std::vector<std::string> words{"__guard",
                                 "--socket=" + std::to_string(socket),
                                 "--lifeline=" + std::to_string(lifeline),
                                 "--terminal=" + std::to_string(terminal),
                                 "--mask=" + std::to_string(signal_mask),
                                 "--on-lost=" + std::to_string(on_lost),
                                 "--grace-ns=" + std::to_string(grace.count()),
                                 "--until-ns=" + std::to_string(until.time_since_epoch().count()),
                                 "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

GuardPlan GuardPlan::from(const Arguments& arguments) {
  GuardPlan plan;
  plan.socket = number<int>(arguments, "socket");
  plan.lifeline = number<int>(arguments, "lifeline");
  plan.terminal = number<int>(arguments, "terminal");
  plan.signal_mask = number<std::uint64_t>(arguments, "mask");
  plan.on_lost = number<int>(arguments, "on-lost");
  plan.grace = Duration(number<Duration::rep>(arguments, "grace-ns"));
  plan.until = TimePoint(Duration(number<Duration::rep>(arguments, "until-ns")));
  plan.command = arguments.command();
  if (plan.command.empty()) throw UsageError("this command is for holdfast itself");
  return plan;
}

const std::vector<Option>& GuardPlan::options() {
  static const std::vector<Option> all{{'\0', "socket", "FD", ""},   {'\0', "lifeline", "FD", ""},
                                       {'\0', "terminal", "FD", ""}, {'\0', "mask", "BITS", ""},
                                       {'\0', "on-lost", "N", ""},   {'\0', "grace-ns", "N", ""},
                                       {'\0', "until-ns", "N", ""}};
  return all;
}

}  // namespace holdfast::cli
