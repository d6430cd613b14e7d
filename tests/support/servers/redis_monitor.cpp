#include "support/servers/redis_monitor.hpp"

#include <iterator>
#include <stdexcept>
#include <utility>

namespace holdfast::test {
namespace {

using std::chrono::microseconds;

constexpr const char* kMark = "\"ECHO\" \"monitored so far\"";

// 1700000000.123456 [0 127.0.0.1:40112] "SET" "key" "value"
MonitoredCommand read_line(const std::string& line) {
  const std::size_t dot = line.find('.');
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open);
  if (dot == std::string::npos || close == std::string::npos) {
    throw std::runtime_error("not a line of MONITOR: " + line);
  }
  MonitoredCommand command;
  command.at = std::chrono::seconds(std::stoll(line.substr(0, dot))) +
               microseconds(std::stoll(line.substr(dot + 1, 6)));
  const std::size_t from = line.find(' ', open) + 1;  // behind the number of the database
  command.from = line.substr(from, close - from);
  command.text = line.substr(close + 2);
  return command;
}

}  // namespace

std::string MonitoredCommand::word(std::size_t index) const {
  std::size_t start = 0;
  while (start < text.size()) {
    std::size_t end = start + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    if (index-- == 0) return text.substr(start + 1, end - start - 1);
    start = end + 2;
  }
  return "";
}

RedisMonitor::RedisMonitor(const RedisServer& server)
    : own_(server.socket_path()), ear_(server.socket_path()) {
  ear_.ask({"MONITOR"});
  thread_ = std::thread([this] { run(); });
}

RedisMonitor::~RedisMonitor() {
  stop_ = true;
  thread_.join();
}

void RedisMonitor::run() {
  while (!stop_) {
    auto line = ear_.hear(std::chrono::milliseconds(20));
    if (!line) continue;
    const std::lock_guard lock(mutex_);
    if (line->text.find(kMark) != std::string::npos) ++marks_seen_;
    lines_.push_back(std::move(line->text));
    more_.notify_one();
  }
}

std::vector<MonitoredCommand> RedisMonitor::take() {
  own_.ask({"ECHO", "monitored so far"});
  ++marks_;
  std::vector<std::string> lines;
  {
    std::unique_lock lock(mutex_);
    if (!more_.wait_for(lock, kSoon, [&] { return marks_seen_ == marks_; })) {
      throw std::runtime_error("MONITOR has missed a command");
    }
    auto end = lines_.begin();
    while (end->find(kMark) == std::string::npos) ++end;
    lines.assign(std::make_move_iterator(lines_.begin()), std::make_move_iterator(end));
    lines_.erase(lines_.begin(), end + 1);
  }
  std::vector<MonitoredCommand> commands;
  commands.reserve(lines.size());
  for (const std::string& line : lines) commands.push_back(read_line(line));
  return commands;
}

}  // namespace holdfast::test
