#include <algorithm>

#include "checker/timeline.hpp"

namespace holdfast::check {
namespace {

constexpr std::size_t kLabel = 12;

char letter_of(State state) {
  switch (state) {
    case State::waiting:
      return '.';
    case State::holding:
      return '=';
    case State::stopped:
      return 'z';
    case State::dead:
      return 'x';
    case State::cut_off:
      return '/';
    case State::other:
      break;
  }
  return '+';
}

class Page {
 public:
  Page(const Lanes& lanes, int width) : lanes_(lanes), width_(std::max(width, 10)) {}

  std::string text() {
    std::string text = axis();
    for (const Lane& lane : lanes_.lanes) {
      std::string label = lane.client == kStoreLane ? "store" : std::to_string(lane.client);
      std::vector<std::vector<Segment>> rows = lane.rows;
      if (rows.empty()) rows.emplace_back();
      for (const auto& row : rows) {
        text += padded(std::exchange(label, "")) + line(lane, row) + "\n";
      }
    }
    return text;
  }

 private:
  static std::string padded(std::string label) {
    label.resize(kLabel, ' ');
    return label;
  }

  std::size_t column(Time at) const {
    const Time length = std::max<Time>(lanes_.to - lanes_.from, 1);
    const double part = static_cast<double>(std::clamp(at, lanes_.from, lanes_.to) - lanes_.from) /
                        static_cast<double>(length);
    return static_cast<std::size_t>(part * (width_ - 1));
  }

  std::string axis() const {
    const Time step = axis_step(lanes_.to - lanes_.from, 8);
    std::string line(static_cast<std::size_t>(width_) + 12, ' ');
    for (Time at = 0; at <= lanes_.to - lanes_.from; at += step) {
      const std::string mark = "|" + axis_text(at);
      line.replace(column(lanes_.from + at), mark.size(), mark);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return padded("") + line + "\n";
  }

  // What befell the client shows where it did nothing, and instead of its waiting and holding.
  std::string line(const Lane& lane, const std::vector<Segment>& row) const {
    std::string line(static_cast<std::size_t>(width_), ' ');
    const auto fill = [&](const Segment& it, char letter) {
      const std::size_t first = column(it.from);
      std::fill_n(line.begin() + static_cast<std::ptrdiff_t>(first), column(it.to) - first + 1,
                  letter);
    };
    for (const Segment& it : row) fill(it, letter_of(it.state));
    for (const Segment& it : lane.background) fill(it, letter_of(it.state));
    for (const Segment& it : row) {
      if (it.end == End::lost) line[column(it.to)] = '!';
      if (it.violates) line[column(it.from)] = '*';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  const Lanes& lanes_;
  int width_;
};

}  // namespace

std::string timeline_text(const Timeline& timeline, int width) {
  const Lanes lanes = lanes_of(timeline);
  return Page(lanes, width).text();
}

}  // namespace holdfast::check
