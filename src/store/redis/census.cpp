#include "store/redis/census.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/glob.hpp"
#include "store/redis/failure.hpp"
#include "store/redis/lock_answers.hpp"
#include "store/redis/lock_names.hpp"
#include "store/redis/lock_questions.hpp"
#include "store/redis/script_asker.hpp"

namespace holdfast::store::redis {
namespace {

constexpr int kAtATime = 100;

class Census final : public std::enable_shared_from_this<Census> {
 public:
  Census(Connection& connection, const Settings& settings, std::string_view pattern,
         Call<InspectReply> call)
      : connection_(connection),
        settings_(settings),
        pattern_(pattern),
        deadline_(call.deadline()),
        call_(std::move(call)) {}

  void begin() {
    if (auto name = only_name(pattern_)) {
      one_ = true;
      names_.insert(*std::move(name));
      return look();
    }
    scan(kFirstNames);
  }

 private:
  void scan(std::string_view cursor) {
    ask_words(
        connection_, ask_names(cursor), deadline_,
        [self = shared_from_this()](const Reply& reply) { self->scanned(reply); },
        [self = shared_from_this()](NoAnswer no) { self->end(std::move(no)); });
  }

  void scanned(const Reply& reply) {
    auto some = names_in(reply);
    if (auto* no = std::get_if<NoAnswer>(&some)) return end(std::move(*no));
    auto& [cursor, names] = std::get<SomeNames>(some);
    for (LockName& name : names) {
      if (rules::glob_matches(pattern_, name.bytes())) names_.insert(std::move(name));
    }
    if (cursor == kFirstNames) return look();
    scan(cursor);
  }

  // The next ones; their answers come on any thread, also before all have been asked.
  void look() {
    std::vector<LockName> next;
    {
      const std::lock_guard lock(mutex_);
      while (!names_.empty() && next.size() < kAtATime) {
        next.push_back(names_.extract(names_.begin()).value());
      }
      open_ = next.size();
    }
    if (next.empty()) return end(in_order());
    for (const LockName& name : next) {
      ask_script(
          connection_, ask_view(name, settings_), deadline_,
          [self = shared_from_this(), name](const Reply& reply) {
            ViewReply view = view_in(reply, name);
            // Among many it is left out: else one that is spoiled, or another's, would hide them all.
            const bool failed = std::holds_alternative<NoAnswer>(view);
            if (failed && !self->one_ && concerns_one_lock(reply)) view = std::nullopt;
            self->looked(std::move(view));
          },
          [self = shared_from_this()](NoAnswer no) { self->looked(std::move(no)); });
    }
  }

  void looked(ViewReply view) {
    if (auto* no = std::get_if<NoAnswer>(&view)) end(std::move(*no));
    {
      const std::lock_guard lock(mutex_);
      if (auto* seen = std::get_if<std::optional<LockView>>(&view); seen != nullptr && *seen) {
        locks_.push_back(*std::move(*seen));
      }
      if (--open_ > 0 || ended_) return;
    }
    look();
  }

  InspectReply in_order() {
    std::sort(locks_.begin(), locks_.end(),
              [](const LockView& left, const LockView& right) { return left.name < right.name; });
    return std::move(locks_);
  }

  void end(InspectReply reply) {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(ended_, true)) return;
    }
    call_.answer(std::move(reply));
  }

  Connection& connection_;
  const Settings& settings_;
  const std::string pattern_;
  const TimePoint deadline_;
  Call<InspectReply> call_;
  std::set<LockName> names_;
  bool one_ = false;  // asked for by its name

  std::mutex mutex_;
  std::size_t open_ = 0;
  bool ended_ = false;
  std::vector<LockView> locks_;
};

}  // namespace

void take_census(Connection& connection, const Settings& settings, std::string_view pattern,
                 Call<InspectReply> call) {
  std::make_shared<Census>(connection, settings, pattern, std::move(call))->begin();
}

}  // namespace holdfast::store::redis
