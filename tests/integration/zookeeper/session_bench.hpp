// Sessions of a test's own, with questions that wait for their answers.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/boot_clock.hpp"
#include "runtime/epoll_loop.hpp"
#include "runtime/kernel_random.hpp"
#include "store/zookeeper/session.hpp"
#include "support/net/proxy.hpp"
#include "support/servers/zookeeper_raw.hpp"
#include "support/servers/zookeeper_server.hpp"
#include "support/soon.hpp"

namespace holdfast::test {

using namespace std::chrono_literals;
using store::NoAnswer;
using store::zookeeper::agreement;
using store::zookeeper::Answers;
using store::zookeeper::Code;
using store::zookeeper::Event;
using store::zookeeper::Mode;
using store::zookeeper::Op;
using store::zookeeper::Outcome;
using store::zookeeper::Reply;
using store::zookeeper::Request;
using store::zookeeper::Session;
using store::zookeeper::Tree;

// What a listener hears.
class Heard final : public Tree::Listener {
 public:
  void fired(const std::string& path, Event event) override {
    const std::lock_guard lock(mutex_);
    fired_.emplace(path, event);
  }
  void session_ended(std::int64_t session) override {
    const std::lock_guard lock(mutex_);
    ended_.insert(session);
  }

  bool has(const std::string& path, Event event) const {
    const std::lock_guard lock(mutex_);
    for (auto [at, end] = fired_.equal_range(path); at != end; ++at) {
      if (at->second == event) return true;
    }
    return false;
  }
  bool comes(const std::string& path, Event event) const {
    return eventually([&] { return has(path, event); });
  }
  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return fired_.size();
  }
  bool ends(std::int64_t session) const {
    return eventually([&] {
      const std::lock_guard lock(mutex_);
      return ended_.contains(session);
    });
  }
  bool any_ended() const {
    const std::lock_guard lock(mutex_);
    return !ended_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::multimap<std::string, Event> fired_;
  std::set<std::int64_t> ended_;
};

// A client's loop, clock and listener, and the sessions on it.
class SessionBench {
 public:
  ~SessionBench() {
    for (const auto& each : sessions_) each->close();
  }

  Result<std::unique_ptr<Session>> try_open(const std::string& url) {
    const auto address = store::Url::parse(url).and_then(store::zookeeper::parse_address);
    if (!address) return address.error();
    return Session::open(*address, {clock_, *loop_, random_, {1, 2}});
  }
  // Throws: a test cannot go on without its session.
  Session& open(const std::string& url) {
    auto session = try_open(url);
    if (!session) throw std::runtime_error(url + ": " + session.error().text());
    sessions_.push_back(std::move(*session));
    sessions_.back()->listen(heard_);
    return *sessions_.back();
  }
  Heard& heard() { return heard_; }
  TimePoint now() const { return clock_.now(); }
  void on_loop(Task task) { loop_->post(std::move(task)); }

 private:
  runtime::BootClock clock_;
  std::unique_ptr<runtime::EpollLoop> loop_ = std::move(runtime::EpollLoop::start().value());
  runtime::KernelRandom random_;
  Heard heard_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

inline TimePoint in_time() { return later(runtime::BootClock().now(), kSoon); }

inline Told<Outcome> asked(Tree& tree, std::vector<Request> requests, std::int64_t only_in = 0,
                           TimePoint deadline = in_time()) {
  Told<Outcome> told;
  tree.ask(std::move(requests), deadline, false, only_in,
           [told](Outcome outcome) { told.tell(std::move(outcome)); });
  return told;
}
inline Outcome outcome_of(Tree& tree, std::vector<Request> requests, std::int64_t only_in = 0) {
  return asked(tree, std::move(requests), only_in).get();
}
// What must be answered.
inline std::vector<Reply> ask(Tree& tree, std::vector<Request> requests) {
  Outcome outcome = outcome_of(tree, std::move(requests));
  if (const auto* no = std::get_if<NoAnswer>(&outcome)) {
    ADD_FAILURE() << no->text;
    return {};
  }
  return std::get<Answers>(std::move(outcome)).replies;
}
inline Reply ask(Tree& tree, Request request) {
  auto replies = ask(tree, std::vector{std::move(request)});
  return replies.empty() ? Reply{.code = Code::other} : std::move(replies.front());
}
inline std::vector<Reply> ask_as_one(Tree& tree, std::vector<Request> requests) {
  Told<Outcome> told;
  tree.ask_as_one(std::move(requests), in_time(), false, 0,
                  [told](Outcome outcome) { told.tell(std::move(outcome)); });
  Outcome outcome = told.get();
  if (const auto* no = std::get_if<NoAnswer>(&outcome)) {
    ADD_FAILURE() << no->text;
    return {};
  }
  return std::get<Answers>(std::move(outcome)).replies;
}
inline bool comes_back(Tree& tree) {
  return eventually([&] {
    return std::holds_alternative<Answers>(outcome_of(tree, {{.op = Op::exists, .path = "/"}}));
  });
}

}  // namespace holdfast::test
