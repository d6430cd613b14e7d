#include "torture/network_faults.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace holdfast::torture {
namespace {

using namespace std::chrono_literals;
using test::Proxy;
using test::Way;

class Twofold final : public Disturbance {
 public:
  Twofold(std::string_view name, std::string_view text, Step begin, Step end)
      : name_(name), text_(text), begin_(std::move(begin)), end_(std::move(end)) {}

  std::string_view name() const override { return name_; }
  std::string_view text() const override { return text_; }
  void begin() override { begin_(); }
  void end() override { end_(); }

 private:
  const std::string_view name_, text_;
  const Step begin_, end_;
};

// The same to all of them.
class Ways {
 public:
  explicit Ways(const std::vector<Proxy*>& all) : all_(all) {}

  template <class Verb, class... Arguments>
  void each(Verb verb, const Arguments&... arguments) const {
    for (Proxy* proxy : all_) (proxy->*verb)(arguments...);
  }
  void set_both(const test::Rules& rules) const {
    for (Proxy* proxy : all_) {
      for (const Way way : test::kBothWays) proxy->set(way, rules);
    }
  }
  Step held(Way way) const {
    return [*this, way] { each(&Proxy::hold, way); };
  }
  Step lost(Way way) const {
    return [*this, way] {
      each(&Proxy::reset);
      each(&Proxy::release, way);
    };
  }
  Step released(Way way) const {
    return [*this, way] { each(&Proxy::release, way); };
  }

 private:
  std::vector<Proxy*> all_;
};

}  // namespace

void add(Disturbances& all, std::string_view name, std::string_view text, Step begin, Step end) {
  all.push_back(std::make_unique<Twofold>(name, text, std::move(begin), std::move(end)));
}

// Bytes in the middle of a connection are never lost without its end: that would be no network.
void add_network_faults(Disturbances& all, const std::vector<Proxy*>& proxies) {
  const Ways ways(proxies);
  add(
      all, "slow_network", "everything takes a tenth of a second, and up to another one",
      [ways] { ways.set_both({.delay = 50ms, .jitter = 50ms}); }, [ways] { ways.set_both({}); });
  add(all, "reset", "all connections are reset", [ways] { ways.each(&Proxy::reset); });
  add(
      all, "no_way_in", "all connections are reset and no new ones let in",
      [ways] {
        ways.each(&Proxy::refuse);
        ways.each(&Proxy::reset);
      },
      [ways] { ways.each(&Proxy::admit); });
  add(all, "questions_lost", "questions do not arrive, then the connections break",
      ways.held(Way::to_server), ways.lost(Way::to_server));
  add(all, "answers_lost", "answers do not arrive, then the connections break",
      ways.held(Way::to_client), ways.lost(Way::to_client));
  add(all, "questions_late", "questions are kept back and arrive later", ways.held(Way::to_server),
      ways.released(Way::to_server));
  add(all, "answers_late", "answers are kept back and arrive later", ways.held(Way::to_client),
      ways.released(Way::to_client));
}

}  // namespace holdfast::torture
