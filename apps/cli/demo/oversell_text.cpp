#include "cli/demo/oversell_text.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/text/utf8.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kNameWidth = 13;
constexpr std::size_t kNumbersWidth = 41;  // all that follows the bar
constexpr int kMostSold = kBuyers * kUnitsPerBuyer;

std::string left(std::string text, std::size_t width) {
  const std::size_t has = width_of(text);
  if (has < width) text.append(width - has, ' ');
  return text;
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t has = width_of(text);
  return has < width ? std::string(width - has, ' ') + text : text;
}

std::string times(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string number(std::int64_t value) { return std::to_string(value); }

std::string seconds_text(Duration length) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fs", std::chrono::duration<double>(length).count());
  return text;
}

std::string ms_text(Duration length) {
  char text[32];
  const double ms = std::chrono::duration<double, std::milli>(length).count();
  std::snprintf(text, sizeof text, ms < 10 ? "%.1fms" : "%.0fms", ms);
  return text;
}

std::string waits_text(const Day& day) {
  return seconds_text(day.wait_p50) + " (p50) to " + seconds_text(day.wait_p99) + " (p99)";
}

std::string label_of(const Day& day) {
  const std::string name = name_of(day.guarding);
  return day.articles == 1 ? name : name + " x" + std::to_string(day.articles);
}

}  // namespace

const char* name_of(Guarding guarding) {
  switch (guarding) {
    case Guarding::nothing:
      return "no lock";
    case Guarding::std_mutex:
      return "std::mutex";
    case Guarding::holdfast:
      return "holdfast";
  }
  return "?";
}

OversellText::OversellText(const Terminal& terminal, std::string shown_store)
    : terminal_(terminal), store_(std::move(shown_store)) {
  columns_ = std::clamp<std::size_t>(terminal.columns(), 70, 120);
  bar_ = std::min<std::size_t>(columns_ - 1 - kNameWidth - kNumbersWidth, 48);
}

std::string OversellText::title(const std::string& options, std::uint64_t seed) const {
  const char* const dot = terminal_.unicode() ? " · " : ", ";
  const std::string command = "holdfast demo oversell" + options;
  const std::string facts = "seed " + std::to_string(seed) + dot + "store " + store_;
  const std::size_t used = width_of(command) + width_of(facts);
  const std::size_t gap = used + 3 <= columns_ ? columns_ - 1 - used : 2;
  return terminal_.paint(Color::bold, command) + std::string(gap, ' ') +
         terminal_.paint(Color::dim, facts) + "\n\n";
}

std::string OversellText::next_seed(std::uint64_t seed) const {
  return terminal_.paint(Color::dim, "seed " + std::to_string(seed)) + "\n";
}

std::string OversellText::intro() const {
  return "1000 units are on the shelf; 800 buyers want 2 each. There are two shops: two\n"
         "processes of 400 threads. A buyer reads the shelf, pays (1 ms) and writes it.\n\n";
}

std::string OversellText::table_head() const {
  return terminal_.paint(Color::dim, std::string(kNameWidth, ' ') + left("units sold", bar_ + 14) +
                                         right("shelf", 7) + right("sold+shelf", 12) +
                                         right("time", 8)) +
         "\n";
}

std::string OversellText::bar(const Day& day) const {
  const auto cells = [&](std::int64_t units) {
    const auto of = std::clamp<std::int64_t>(units, 0, kMostSold) * static_cast<std::int64_t>(bar_);
    return static_cast<std::size_t>((of + kMostSold / 2) / kMostSold);
  };
  const std::size_t all = cells(day.sold);
  const std::size_t honest = std::min(all, cells(kUnits));
  const bool unicode = terminal_.unicode();
  std::string text = terminal_.paint(day.exact() ? Color::green : Color::plain,
                                     times(unicode ? "█" : "#", honest));
  if (all > honest) text += terminal_.paint(Color::red, times(unicode ? "▒" : "!", all - honest));
  return text + std::string(bar_ - all, ' ');
}

std::string OversellText::mark(bool good) const {
  if (terminal_.unicode())
    return terminal_.paint(good ? Color::green : Color::red, good ? "✓" : "✗");
  return terminal_.paint(good ? Color::green : Color::red, good ? "=" : "X");
}

std::string OversellText::row(const Day& day) const {
  const std::int64_t over = day.sold - kUnits;
  std::string difference = "exact";
  if (!day.exact()) difference = over == 0 ? "wrong" : (over > 0 ? "+" : "") + number(over);
  const Color color = day.exact() ? Color::green : Color::red;
  return left(label_of(day), kNameWidth) + bar(day) + right(number(day.sold), 5) + " " +
         terminal_.paint(color, right(difference, 5)) + " " + mark(day.exact()) + " " +
         right(number(day.shelf), 7) +
         terminal_.paint(color, right(number(day.sold + day.shelf), 12)) +
         right(seconds_text(day.took), 8) + "\n";
}

std::string OversellText::table_foot() const {
  const std::size_t at = bar_ * kUnits / kMostSold;
  const std::string text = "1000 were there";
  std::string line(kNameWidth + at - 1, ' ');
  line += terminal_.unicode() ? "▲ " : "^ ";
  return terminal_.paint(Color::dim, line + text) + "\n\n";
}

std::string OversellText::lesson(const std::vector<Day>& days) const {
  const Day& none = days[0];
  const Day& one = days[2];
  std::string text =
      "why:   Both shops read \"2 left\" before either wrote. A std::mutex guards the\n"
      "       threads of one process; there are two. Only Holdfast's numbers agree: what\n"
      "       was sold and what is left make 1000, and " +
      number(one.refused) + " buyers were told \"sold out\".\n";
  text += "price: One shelf, one buyer at a time: " + seconds_text(one.took) + " instead of " +
          seconds_text(none.took) + ". A buyer waited\n       " + waits_text(one) + ".";
  if (days.size() > 3) {
    const Day& many = days[3];
    text += " With a lock for each of " + number(many.articles) + " articles\n       it is " +
            seconds_text(many.took) + ", and a buyer waits " + waits_text(many) + ".\n";
  } else {
    text += " Finer locks are quicker: one for each\n       of 20 articles, try --skus 20.\n";
  }
  return text;
}

std::string OversellText::moment(const std::string& time, const std::string& who,
                                 const std::string& what) const {
  return terminal_.paint(Color::dim, right(time, 8)) + "  " +
         terminal_.paint(Color::bold, left(who, 7)) + what + "\n";
}

std::string OversellText::killing(const Day& day, Duration lease) const {
  if (!day.killing) return {};
  const Killing& it = *day.killing;
  const char* const victim = shop_name(it.shop);
  const std::string others = it.take_over < lease / 2
                                 ? "has the lock. The store saw that the holder was dead:"
                                 : "has the lock. The lease ran out;";
  const std::string blank(17, ' ');
  std::string text =
      moment(seconds_text(it.at), victim,
             terminal_.paint(Color::red, "is killed (kill -9)") + " in the middle of a payment,\n" +
                 blank + "while it holds the lock with fence " + std::to_string(it.fence)) +
      moment("+" + ms_text(it.take_over), shop_name(it.take_over_by),
             others + "\n" + blank +
                 (it.take_over < lease / 2
                      ? "nobody had to wait for the lease of " + seconds_text(lease)
                      : "it was " + seconds_text(lease))) +
      moment("+" + ms_text(it.reopened_after), victim,
             "is open again, for the " + number(it.buyers_left) + " buyers it had not served");
  return text + "\n";
}

std::string OversellText::killed_lesson(const Day& day) const {
  return "why:   A sale is one write of the shelf, which the dead shop did or did not do;\n"
         "       whoever gets the lock next goes on from there. All " +
         number(day.served) +
         " buyers were served\n       once: " + number(day.served - day.refused) +
         " got 2 units, " + number(day.refused) + " were told \"sold out\".\n";
}

std::string OversellText::count(const char* label, const ShelfCount& counted) const {
  const Color color = counted.exact() ? Color::green : Color::red;
  return left(label, 30) + right(number(counted.sold), 6) + right(number(counted.shelf), 8) +
         terminal_.paint(color, right(number(counted.sold + counted.shelf), 13)) + "  " +
         mark(counted.exact()) + "\n";
}

std::string OversellText::late_write(const LateWrite& it) const {
  const std::string blank(17, ' ');
  const std::string fence_a = "fence " + std::to_string(it.fence_a);
  std::string text =
      "A lock has a lease, so that a dead holder does not block the others for ever.\n"
      "What if it is not dead but only stopped: a swapping machine, a paused VM?\n\n";
  text += moment("0.00s", "shop A",
                 "gets the lock, " + fence_a + ", lease " + seconds_text(it.lease) + ".\n" + blank +
                     "It reads \"1000 left\" and begins a payment");
  text += moment(
      seconds_text(it.stopped), "shop A",
      terminal_.paint(Color::red, "is stopped (SIGSTOP)") + " and can neither renew nor know");
  text += moment(seconds_text(it.b_asked), "shop B", "asks for the lock and waits");
  text +=
      moment(seconds_text(it.b_granted), "shop B",
             "gets the lock, fence " + std::to_string(it.fence_b_first) + ": the lease is over");
  text += moment(seconds_text(it.b_done), "shop B",
                 "has sold " + number(it.b_sales) + " times 2, the last with fence " +
                     std::to_string(it.fence_b_last) + ";\n" + blank + "the shelf says \"" +
                     number(it.b_shelf) + " left\"");
  text += moment(seconds_text(it.continued), "shop A",
                 "goes on (SIGCONT). hold.valid() is " +
                     std::string(it.valid_when_woken ? "TRUE" : "false") + ";\n" + blank +
                     (it.told ? "lost() fired after " + ms_text(it.told_at - it.continued) +
                                    "; release() says \"" + it.release_says + "\""
                              : "lost() DID NOT FIRE"));
  text += moment(
      seconds_text(it.wrote), "shop A",
      "does not look and writes \"" + number(it.wrote_shelf) + " left\", with " + fence_a + ":\n" +
          blank +
          (it.refused_because_of > 0
               ? "the shelf that checks fences " + terminal_.paint(Color::green, "refuses") +
                     ": it knows " + std::to_string(it.refused_because_of)
               : "the shelf that checks fences " + terminal_.paint(Color::red, "accepts it")) +
          "\n" + blank + "the shelf that does not check " +
          terminal_.paint(Color::red, "takes it") + ", and forgets " + number(it.b_sales) +
          " sales");
  text += "\n" +
          terminal_.paint(Color::dim, left("", 30) + right("sold", 6) + right("shelf", 8) +
                                          right("sold+shelf", 13)) +
          "\n";
  text += count("shelf that checks fences", it.checks);
  text += count("shelf that does not", it.does_not);
  text +=
      "\nwhy:   No lock can stop a process that is already on its way. Holdfast tells it\n"
      "       (valid(), lost()) and gives each holder a greater fence than the last.\n"
      "       Send the fence with each write and let the resource refuse smaller ones:\n"
      "       UPDATE shelf SET units = ?, fence = ? WHERE id = ? AND fence <= ?\n";
  return text;
}

std::string OversellText::verdict(int exact, int of) const {
  if (of == 1 && exact == 1) return {};
  const std::string text = "holdfast was exact in " + std::to_string(exact) + " of " +
                           std::to_string(of) + (of == 1 ? " run" : " runs");
  return terminal_.paint(exact == of ? Color::green : Color::red, text) + "\n";
}

std::string OversellText::next(const std::string& without) const {
  struct Step {
    std::string command;
    const char* what;
  };
  const std::vector<Step> steps{
      {"holdfast demo oversell", "no lock, std::mutex, Holdfast"},
      {"holdfast demo oversell --kill", "a shop is killed while holding the lock"},
      {"holdfast demo oversell --pause", "a holder sleeps past its lease: fences"},
      {"holdfast help SAFETY", "what is promised, and what is not"}};
  std::string text;
  for (const Step& step : steps) {
    if (step.command == "holdfast demo oversell" + without) continue;
    text += (text.empty() ? "next:  " : "       ") + left(step.command, 33) +
            terminal_.paint(Color::dim, step.what) + "\n";
  }
  return text;
}

}  // namespace holdfast::cli
