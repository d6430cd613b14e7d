#include <optional>
#include <string>

#include <unistd.h>

#include "cli/chosen_store.hpp"
#include "cli/command.hpp"
#include "cli/demo/interruption.hpp"
#include "cli/demo/late_write.hpp"
#include "cli/demo/market.hpp"
#include "cli/demo/oversell_json.hpp"
#include "cli/demo/oversell_text.hpp"
#include "cli/demo/scratch_folder.hpp"
#include "cli/refusal.hpp"
#include "cli/say.hpp"
#include "cli/text/shown.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLease = 30s;
constexpr Duration kLeaseOfTheKilled = 2s;

enum class Scene { compare, kill, pause };

struct Wish {
  Scene scene = Scene::compare;
  std::uint64_t seed = 42;
  int repeat = 1;
  int articles = 1;
  bool json = false;
};

std::uint64_t number(const Arguments& arguments, const char* option, std::uint64_t otherwise,
                     std::uint64_t least, std::uint64_t most) {
  const auto given = arguments.value(option);
  if (!given) return otherwise;
  const bool digits = !given->empty() && given->size() <= 9 &&
                      given->find_first_not_of("0123456789") == given->npos;
  const std::uint64_t value = digits ? std::stoull(*given) : 0;
  if (!digits || value < least || value > most) {
    throw Refusal(exit_code::kBadData, "--" + std::string(option) + " is a number from " +
                                           std::to_string(least) + " to " + std::to_string(most) +
                                           ", not \"" + shown(*given) + "\"");
  }
  return value;
}

// Each article has as many pairs of units, and as many buyers, as the next.
bool divides_evenly(int articles) {
  return kUnits % (articles * kUnitsPerBuyer) == 0 && kBuyers % articles == 0;
}

Wish wish_from(const Arguments& arguments) {
  const auto& words = arguments.words();
  if (words.size() != 1 || words[0] != "oversell") {
    throw UsageError(words.empty() ? "which one? There is: holdfast demo oversell"
                                   : "there is one demonstration: holdfast demo oversell");
  }
  if (arguments.has("kill") && arguments.has("pause")) {
    throw UsageError("--kill and --pause are two scenes: one at a time");
  }
  Wish wish;
  if (arguments.has("kill")) wish.scene = Scene::kill;
  if (arguments.has("pause")) wish.scene = Scene::pause;
  wish.seed = number(arguments, "seed", wish.seed, 0, 999'999'999);
  wish.repeat = static_cast<int>(number(arguments, "repeat", 1, 1, 10'000));
  wish.articles = static_cast<int>(number(arguments, "skus", 1, 1, 100));
  wish.json = arguments.has("json");
  if (wish.scene == Scene::pause && arguments.has("skus")) {
    throw UsageError("--skus has no meaning with --pause, which has one shelf");
  }
  if (!divides_evenly(wish.articles)) {
    throw Refusal(
        exit_code::kBadData,
        "--skus is one of 1, 2, 4, 5, 10, 20, 25, 50, 100: each article has as many units "
        "and buyers as the next");
  }
  return wish;
}

// A database that goes with the demonstration, unless the user names a store: what others see in
// $HOLDFAST_URL is not for playing.
class DemoStore {
 public:
  DemoStore(const Arguments& arguments, const ScratchFolder& scratch)
      : given_(arguments.value("store")),
        store_(given_.value_or("sqlite:" + (scratch.path() / "locks.db").string())) {
    if (store_.url().starts_with("memory:")) {
      throw Refusal(exit_code::kConfiguration,
                    "memory: lives in one process, and this demonstration has two");
    }
    store_.connect();  // what is wrong is told here once, and not by each process
  }

  const std::string& url() const { return store_.url(); }
  std::string shown_url() const {
    return given_ ? store_.shown_url() : "sqlite: (a temporary file)";
  }

 private:
  std::optional<std::string> given_;
  ChosenStore store_;
};

class Demo {
 public:
  Demo(const Arguments& arguments, const Wish& wish)
      : wish_(wish),
        store_(arguments, scratch_),
        terminal_(STDOUT_FILENO, arguments),
        text_(terminal_, store_.shown_url()) {}

  int run() {
    Json runs = Json::array();
    int exact = 0;
    for (int i = 0; i < wish_.repeat; ++i) {
      seed_ = wish_.seed + static_cast<std::uint64_t>(i);
      first_ = i == 0;
      last_ = i + 1 == wish_.repeat;
      Json json{{"seed", seed_}};
      if (play(json)) ++exact;
      runs.push_back(std::move(json));
    }
    const bool good = exact == wish_.repeat;
    if (wish_.json) {
      Json all{{"schema", kJsonSchema},
               {"demo", "oversell"},
               {"scene", scene_name()},
               {"store", store_.shown_url()},
               {"units", kUnits},
               {"buyers", kBuyers},
               {"units_per_buyer", kUnitsPerBuyer},
               {"exact", good},
               {"runs", std::move(runs)}};
      print(json_text(all) + "\n");
    } else {
      print(text_.verdict(exact, wish_.repeat) + text_.next(options()));
    }
    return good ? exit_code::kDone : exit_code::kInternal;
  }

 private:
  const char* scene_name() const {
    if (wish_.scene == Scene::kill) return "kill";
    return wish_.scene == Scene::pause ? "pause" : "compare";
  }

  std::string options() const {
    if (wish_.scene == Scene::kill) return " --kill";
    if (wish_.scene == Scene::pause) return " --pause";
    return "";
  }

  void tell(const std::string& text) const {
    if (!wish_.json) print(text);
  }

  std::filesystem::path fresh_folder() {
    auto folder = scratch_.path() / ("day-" + std::to_string(++days_));
    std::filesystem::create_directory(folder);
    return folder;
  }

  Day day(Guarding guarding, int articles = 1) {
    return run_day({.folder = fresh_folder(),
                    .store_url = store_.url(),
                    .guarding = guarding,
                    .seed = seed_,
                    .articles = articles,
                    .lease = wish_.scene == Scene::kill ? kLeaseOfTheKilled : kLease,
                    .kill = wish_.scene == Scene::kill});
  }

  bool play(Json& json) {
    tell(first_ ? text_.title(options(), seed_) : text_.next_seed(seed_));
    switch (wish_.scene) {
      case Scene::compare:
        return compare(json);
      case Scene::kill:
        return kill(json);
      case Scene::pause:
        return pause(json);
    }
    return false;
  }

  bool compare(Json& json) {
    if (first_) tell(text_.intro() + text_.table_head());
    std::vector<Day> days;
    const auto add = [&](Guarding guarding, int articles) {
      days.push_back(day(guarding, articles));
      tell(text_.row(days.back()));
    };
    add(Guarding::nothing, 1);
    add(Guarding::std_mutex, 1);
    add(Guarding::holdfast, 1);
    if (wish_.articles > 1) add(Guarding::holdfast, wish_.articles);
    if (last_) tell(text_.table_foot() + text_.lesson(days) + "\n");

    bool exact = true;
    for (const Day& each : days) {
      json["rows"].push_back(to_json(each));
      if (each.guarding == Guarding::holdfast) exact = exact && each.exact();
    }
    return exact;
  }

  bool kill(Json& json) {
    if (first_) tell(text_.intro());
    const Day result = day(Guarding::holdfast, wish_.articles);
    tell(text_.killing(result, kLeaseOfTheKilled) + text_.table_head() + text_.row(result) +
         text_.table_foot());
    if (last_) tell(text_.killed_lesson(result) + "\n");
    json["rows"].push_back(to_json(result));
    return result.exact() && result.killing->take_over > Duration::zero();
  }

  bool pause(Json& json) {
    const LateWrite scene = run_late_write(fresh_folder(), store_.url());
    tell(text_.late_write(scene) + "\n");
    json["pause"] = to_json(scene);
    return scene.as_promised();
  }

  const Wish wish_;
  ScratchFolder scratch_;
  DemoStore store_;
  Terminal terminal_;
  OversellText text_;
  std::uint64_t seed_ = 0;
  bool first_ = true;  // of the repetitions
  bool last_ = true;
  int days_ = 0;
};

int demo(const Arguments& arguments) {
  const Wish wish = wish_from(arguments);
  const Interruption interruption;
  return Demo(arguments, wish).run();
}

}  // namespace

Command demo_command() {
  return {.name = "demo",
          .synopsis = "demo oversell [options]",
          .summary = "see what goes wrong without a lock, and what does not with one",
          .options = {{'S', "store", "URL", "a store of yours; without it a temporary file"},
                      {'\0', "kill", "", "kill -9 one shop while it holds the lock"},
                      {'\0', "pause", "", "stop a holder past its lease: what fences are for"},
                      {'\0', "skus", "N", "compare with a lock for each of N articles"},
                      {'\0', "seed", "N", "in which order buyers come; 42 without it"},
                      {'\0', "repeat", "N", "so many times, with the seeds that follow"},
                      {'\0', "json", "", "as JSON"}},
          .run = demo,
          .notes = "Exits 70 if the numbers of Holdfast are not exact.\n"};
}

}  // namespace holdfast::cli
