#include "world.hpp"

#include <algorithm>
#include <cstdio>

#include "model_bugs.hpp"

namespace holdfast::sim {

Time Node::true_time(TimePoint when) const {
  if (when == holdfast::kNever) return kNever;
  return clock_.true_time(when.time_since_epoch().count() - misread_);
}

void Node::step_wall(Time by) {
  wall_ahead_ += by;
  if (HOLDFAST_MODEL_BUG(counts_by_wall)) misread_ += by;
}

void Node::asleep_for(Time length) {
  if (HOLDFAST_MODEL_BUG(clock_sleeps)) misread_ -= length;
}

void World::add(Time when, Node* node, Task task) {
  queue_.emplace(std::pair(std::max(when, now_), added_++), Event{node, std::move(task)});
}

void World::step() {
  auto entry = queue_.extract(queue_.begin());
  now_ = entry.key().first;
  Event event = std::move(entry.mapped());
  if (event.node != nullptr) {
    if (!event.node->alive()) return;
    if (event.node->paused_until() > now_) {
      return add(event.node->paused_until(), event.node, std::move(event.task));
    }
  }
  ++done_;
  event.task();
  if (event.node != nullptr && event.node->after_task) event.node->after_task();
}

void World::run_until(Time limit) {
  while (next_time() <= limit) step();
  now_ = std::max(now_, limit);
}

void World::clear() {
  while (!queue_.empty()) queue_.erase(queue_.begin());
}

void World::trace(const std::string& who, const std::string& what) {
  if (trace_ == nullptr) return;
  char time[32];
  std::snprintf(time, sizeof time, "%12.6f  ", static_cast<double>(now_) / 1e6);
  *trace_ << time << who << std::string(who.size() < 10 ? 10 - who.size() : 1, ' ') << what << '\n';
}

WallTime NodeClock::wall_now() const {
  const Duration wall = node_.wall(world_.now()).time_since_epoch();
  return WallTime(std::chrono::duration_cast<std::chrono::microseconds>(wall));
}

store::TimerId NodeLoop::call_at(TimePoint when, Task task) {
  // A timer is never early and, on a busy machine, a little late.
  world_.at(node_, node_.true_time(when) + random_.skewed(0, micros(300)), std::move(task));
  return 1;
}

void NodeCallbacks::post(Task task) {
  last_ = std::max(last_, world_.now() + random_.skewed(0, micros(500)));
  world_.at(node_, last_, std::move(task));
}

}  // namespace holdfast::sim
