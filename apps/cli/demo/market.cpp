#include "cli/demo/market.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "cli/boot_now.hpp"
#include "cli/demo/interruption.hpp"
#include "cli/demo/partner.hpp"
#include "cli/demo/shelf.hpp"
#include "cli/refusal.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPatience = 3min;

TimePoint time_of(std::int64_t ns) { return TimePoint(Duration(ns)); }

// A name that nobody else on that store has.
std::string fresh_lock_name() {
  std::random_device random;
  return "holdfast-demo/" + std::to_string(random()) + std::to_string(random());
}

std::vector<std::string> words_for(const ShopPlan& plan) {
  std::vector<std::string> words = plan.words();
  words.insert(words.begin(), "__shop");
  return words;
}

// "ready 173" → 173
int number_behind(const std::string& line, const std::string& word) {
  if (!line.starts_with(word + " ")) throw Refusal(exit_code::kInternal, "a shop says: " + line);
  return std::stoi(line.substr(word.size() + 1));
}

struct Books {
  std::vector<Visit> visits;  // of all articles, in order of time
  std::int64_t shelf = 0;
  bool fences_grow = true;
};

enum class Reader { alone, in_passing };

Books read_books(const ShopPlan& plan, Reader reader) {
  Books books;
  for (int article = 0; article < plan.articles; ++article) {
    const Shelf shelf(plan.shelf(article));
    books.shelf += (reader == Reader::alone ? shelf.read_and_repair() : shelf.read()).units;
    std::uint64_t last = 0;
    for (const Visit& visit : shelf.ledger()) {
      books.fences_grow = books.fences_grow && visit.fence > last;
      last = visit.fence;
      books.visits.push_back(visit);
    }
  }
  std::sort(books.visits.begin(), books.visits.end(),
            [](const Visit& a, const Visit& b) { return a.entered < b.entered; });
  return books;
}

Day count(const ShopPlan& plan, const Books& books, TimePoint opened) {
  Day day{.guarding = plan.guarding, .articles = plan.articles};
  std::set<int> seen;
  std::vector<Duration> waits;
  for (const Visit& visit : books.visits) {
    day.sold += visit.units;
    if (!seen.insert(visit.buyer).second) ++day.twice;
    if (visit.units == 0) ++day.refused;
    day.took = std::max(day.took, time_of(visit.left) - opened);
    waits.push_back(Duration(visit.entered - visit.asked));
  }
  day.shelf = books.shelf;
  day.served = static_cast<int>(seen.size());
  day.fences_grow = books.fences_grow;
  std::sort(waits.begin(), waits.end());
  if (!waits.empty()) {
    day.wait_p50 = waits[waits.size() / 2];
    day.wait_p99 = waits[waits.size() * 99 / 100];
  }
  return day;
}

class Market {
 public:
  explicit Market(const DayPlan& day)
      : day_(day),
        plan_{.folder = day.folder,
              .guarding = day.guarding,
              .seed = day.seed,
              .articles = day.articles,
              .lock = fresh_lock_name(),
              .lease = day.lease} {
    for (int article = 0; article < day.articles; ++article) {
      Shelf::make(plan_.shelf(article), kUnits / day.articles);
    }
  }

  Day run() {
    ShopPlan other = shop(1);
    if (day_.kill) other.hang_at = 40 + static_cast<int>(std::mt19937_64(day_.seed)() % 80);
    Partner a(words_for(shop(0)), day_.store_url);
    Partner b(words_for(other), day_.store_url);
    a.hear(kPatience);
    b.hear(kPatience);
    opened_ = boot_now();
    a.tell("go");
    b.tell("go");

    std::optional<Killing> killing;
    if (day_.kill) killing = kill_and_reopen(b);
    a.wait_for_end(kPatience);
    if (!day_.kill) b.wait_for_end(kPatience);

    const Books books = read_books(plan_, Reader::alone);
    Day day = count(plan_, books, opened_);
    if (killing) find_take_over(*killing, books);
    day.killing = killing;
    return day;
  }

 private:
  ShopPlan shop(int number) const {
    ShopPlan plan = plan_;
    plan.shop = number;
    return plan;
  }

  Killing kill_and_reopen(Partner& victim) {
    Killing killing{.shop = 1};
    const std::string hangs = victim.hear(kPatience);
    if (!hangs.starts_with("hangs ")) throw Refusal(exit_code::kInternal, "a shop says: " + hangs);
    killing.fence = std::stoull(hangs.substr(6));
    const TimePoint killed = boot_now();
    killing.at = killed - opened_;
    victim.kill();
    wait_for_take_over(killed);  // by those who are there: a shop that opens would look as well

    ShopPlan again = shop(1);
    again.reopened = true;
    Partner reopened(words_for(again), day_.store_url);
    killing.buyers_left = number_behind(reopened.hear(kPatience), "ready");
    reopened.tell("go");
    killing.reopened_after = boot_now() - killed;
    reopened.wait_for_end(kPatience);
    return killing;
  }

  static std::optional<Visit> first_after(TimePoint time, const Books& books) {
    const auto next =
        std::find_if(books.visits.begin(), books.visits.end(),
                     [&](const Visit& visit) { return time_of(visit.entered) > time; });
    if (next == books.visits.end()) return std::nullopt;
    return *next;
  }

  void wait_for_take_over(TimePoint killed) const {
    const TimePoint until = later(killed, 2 * day_.lease + 5s);
    while (!first_after(killed, read_books(plan_, Reader::in_passing))) {
      Interruption::check();
      if (boot_now() > until) {
        throw Refusal(exit_code::kInternal, "nobody took the lock of the dead shop over");
      }
      std::this_thread::sleep_for(1ms);
    }
  }

  void find_take_over(Killing& killing, const Books& books) const {
    const TimePoint killed = opened_ + killing.at;
    const auto next = first_after(killed, books);
    if (!next) return;
    killing.take_over = time_of(next->entered) - killed;
    killing.take_over_by = next->buyer / kBuyersPerShop;
  }

  const DayPlan& day_;
  const ShopPlan plan_;
  TimePoint opened_{};
};

}  // namespace

bool Day::exact() const {
  const bool books_agree =
      sold == kUnits && shelf == 0 && refused == kBuyers - kUnits / kUnitsPerBuyer;
  return books_agree && served == kBuyers && twice == 0 && fences_grow;
}

Day run_day(const DayPlan& plan) { return Market(plan).run(); }

}  // namespace holdfast::cli
