#include <algorithm>
#include <cstdio>

#include "checker/timeline.hpp"

namespace holdfast::check {
namespace {

constexpr double kWidth = 1400;  // of the time; lanes and their names come to its left
constexpr double kLeft = 90;
constexpr double kTop = 64;
constexpr double kRow = 16;
constexpr double kGap = 8;

constexpr const char* kStyle = R"svg(<style>
text { font: 11px sans-serif; fill: #333; }
.label { font-size: 9px; pointer-events: none; }
.title { font-size: 12px; }
.axis { stroke: #ddd; }
.lane { fill: #f7f7f7; }
.waiting { fill: #c9d7ea; }
.holding { fill: #4f9d69; }
.lost { fill: #c0392b; }
.refused { fill: #8195b0; }
.stopped { fill: #f0b74a; fill-opacity: 0.45; }
.dead { fill: #444; fill-opacity: 0.75; }
.cut_off { fill: #a678c9; fill-opacity: 0.4; }
.other { fill: #e08a3c; fill-opacity: 0.6; }
.violates { stroke: #e00; stroke-width: 2; }
</style>
)svg";

const char* class_of(State state) {
  switch (state) {
    case State::waiting:
      return "waiting";
    case State::holding:
      return "holding";
    case State::stopped:
      return "stopped";
    case State::dead:
      return "dead";
    case State::cut_off:
      return "cut_off";
    case State::other:
      break;
  }
  return "other";
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return safe;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

class Drawing {
 public:
  explicit Drawing(const Lanes& lanes) : lanes_(lanes) {}

  std::string document() {
    for (const Lane& lane : lanes_.lanes) add(lane);
    const std::string size = number(kLeft + kWidth + 20) + " " + number(y_ + 10);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\">\n" + kStyle +
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + legend() + axis() + body_ +
           "</svg>\n";
  }

 private:
  double x(Time at) const {
    const Time length = std::max<Time>(lanes_.to - lanes_.from, 1);
    return kLeft + kWidth *
                       static_cast<double>(std::clamp(at, lanes_.from, lanes_.to) - lanes_.from) /
                       static_cast<double>(length);
  }

  static std::string box(const std::string& shape, double x, double y, double width, double height,
                         const std::string& details = {}) {
    std::string text = "<rect class=\"" + shape + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
                       "\" width=\"" + number(width) + "\" height=\"" + number(height) + "\"";
    return text + (details.empty() ? "/>\n" : "><title>" + escaped(details) + "</title></rect>\n");
  }

  static std::string words(const std::string& shape, double x, double y, const std::string& text) {
    return "<text class=\"" + shape + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\">" +
           escaped(text) + "</text>\n";
  }

  std::string details_of(const Segment& it) const {
    return it.details + " (from " + axis_text(it.from - lanes_.from) + ", for " +
           axis_text(it.to - it.from) + ")";
  }

  void add(const Lane& lane) {
    const double height = kRow * static_cast<double>(std::max<std::size_t>(lane.rows.size(), 1));
    const bool store = lane.client == kStoreLane;
    body_ += box("lane", kLeft, y_, kWidth, height);
    body_ += words("name", 8, y_ + 12, store ? "store" : "client " + std::to_string(lane.client));
    double y = y_;
    for (const auto& row : lane.rows) {
      for (const Segment& it : row) add(it, y);
      y += kRow;
    }
    for (const Segment& it : lane.background) {
      body_ += box(class_of(it.state), x(it.from), y_, width(it), height, details_of(it));
    }
    y_ += height + kGap;
  }

  double width(const Segment& it) const { return std::max(x(it.to) - x(it.from), 1.0); }

  void add(const Segment& it, double y) {
    if (it.to < lanes_.from || it.from > lanes_.to) return;
    const bool waiting = it.state == State::waiting;
    std::string shape = class_of(it.state);
    if (it.violates) shape += " violates";
    const double top = y + (waiting ? 5 : 1);
    const double height = kRow - (waiting ? 10 : 2);
    body_ += box(shape, x(it.from), top, width(it), height, details_of(it));
    if (it.end == End::lost) body_ += box("lost", x(it.to) - 2, y, 4, kRow);
    if (it.end == End::refused) body_ += box("refused", x(it.to) - 1, y + 3, 2, kRow - 6);
    const double room = width(it) - 4;
    if (!waiting && room > 6.0 * static_cast<double>(it.label.size())) {
      body_ += words("label", x(it.from) + 2, y + 11, it.label);
    }
  }

  std::string axis() const {
    std::string text;
    const Time step = axis_step(lanes_.to - lanes_.from, 12);
    for (Time at = 0; at <= lanes_.to - lanes_.from; at += step) {
      const std::string left = number(x(lanes_.from + at));
      text += "<line class=\"axis\" x1=\"" + left + "\" x2=\"" + left + "\" y1=\"" +
              number(kTop - 8) + "\" y2=\"" + number(y_) + "\"/>\n";
      text += words("time", x(lanes_.from + at) + 2, kTop - 12, axis_text(at));
    }
    return text;
  }

  static std::string legend() {
    struct Entry {
      const char* shape;
      const char* text;
    };
    std::string text;
    double left = kLeft;
    for (const Entry it :
         {Entry{"waiting", "waits"}, Entry{"holding", "holds"}, Entry{"lost", "lost"},
          Entry{"refused", "not granted"}, Entry{"stopped", "stopped"}, Entry{"dead", "dead"},
          Entry{"cut_off", "cut off"}, Entry{"waiting violates", "breaks a rule"}}) {
      text += box(it.shape, left, 14, 14, 10);
      text += words("title", left + 20, 23, it.text);
      left += 120;
    }
    return text;
  }

  const Lanes& lanes_;
  std::string body_;
  double y_ = kTop;
};

}  // namespace

std::string timeline_svg(const Timeline& timeline) {
  const Lanes lanes = lanes_of(timeline);
  return Drawing(lanes).document();
}

}  // namespace holdfast::check
