#include "support/processes/holder.hpp"

#include <chrono>
#include <stop_token>

#include "holdfast/holdfast.hpp"
#include "support/soon.hpp"

namespace holdfast::test {

const Role kHolder("holder", [](Parent& parent, const Words& arguments) {
  const Client client = connect(arguments.at(0)).value();
  Hold hold = client.mutex("lock")
                  .acquire({.lease = std::chrono::milliseconds(std::stoi(arguments.at(1)))})
                  .value();
  parent.tell(text_of(hold.fence()));
  while (const auto order = parent.hear()) {
    if (*order == "valid") {
      parent.tell(hold.valid() ? "yes" : "no");
    } else if (*order == "lost") {
      const Signal lost;
      const std::stop_callback tell(hold.lost(), [&] { lost.give(); });
      parent.tell(lost.comes() ? "lost" : "never");
    } else if (*order == "release") {
      const auto released = hold.release();
      parent.tell(released ? "released" : std::string(name_of(released.error().errc())));
    }
  }
});

std::string text_of(FencingToken fence) { return std::to_string(fence.value()); }

FencingToken fence_from(const std::string& text) {
  return FencingToken(text.empty() ? 0 : std::stoull(text));
}

bool comes_to_wait(const Client& client, std::string_view name) {
  return eventually([&] {
    const auto seen = client.inspect(name);
    return seen && !seen->empty() && !seen->front().line.empty();
  });
}

}  // namespace holdfast::test
