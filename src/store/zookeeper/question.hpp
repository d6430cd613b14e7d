#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "store/zookeeper/answers.hpp"
#include "store/zookeeper/messages.hpp"
#include "store/zookeeper/tree.hpp"
#include "transport/shared_connection.hpp"

namespace holdfast::store::zookeeper {

// What was asked together, and is answered together.
//
// Threads      One at a time: the connection hands out answers and failures one after another.
class Batch {
 public:
  using Done = std::function<void(Outcome)>;

  // With all that is known of the answers.
  Batch(std::vector<Request> requests, Answers answers, Done done)
      : requests_(std::move(requests)), answers_(std::move(answers)), done_(std::move(done)) {
    answers_.replies.resize(requests_.size());
  }

  const std::vector<Request>& requests() const { return requests_; }
  std::vector<Reply>& replies() { return answers_.replies; }

  // There are so many questions; the last one's answer is that of all.
  void expect(std::size_t questions);
  void one_answered();
  void one_failed(NoAnswer);

 private:
  void count();

  const std::vector<Request> requests_;
  Answers answers_;
  std::optional<NoAnswer> failure_;
  bool any_answered_ = false;
  std::size_t open_ = 0;
  Done done_;
};

// One message to the server: one request of a batch, or all of them as one.
class Question final : public transport::Asker {
 public:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  struct Terms {
    std::int32_t xid = 0;
    TimePoint sent{};
    TimePoint deadline{};
    bool waits = false;
  };
  Question(std::shared_ptr<Batch> batch, std::size_t which, const Terms& terms)
      : Asker(terms.deadline, terms.waits),
        batch_(std::move(batch)),
        which_(which),
        xid_(terms.xid),
        sent_(terms.sent) {}

  std::int32_t xid() const { return xid_; }
  TimePoint sent() const { return sent_; }

  // Reads the answer; false: it makes no sense.
  bool read(const AnswerHead&, std::string_view body);
  // The answer was longer than anybody wants.
  void read_too_much(const AnswerHead&);
  // Once it was read: whether a majority of the servers has agreed to it.
  bool is_agreed() const;
  // Calls tell(request, reply) for each of its requests.
  template <class Tell>
  void for_each(Tell tell) const {
    const auto& requests = batch_->requests();
    const auto& replies = batch_->replies();
    for (std::size_t i = first(); i < last(); ++i) tell(requests[i], replies[i]);
  }

  void done() { batch_->one_answered(); }
  void failed(NoAnswer no) override { batch_->one_failed(std::move(no)); }

 private:
  std::size_t first() const { return which_ == kAll ? 0 : which_; }
  std::size_t last() const { return which_ == kAll ? batch_->requests().size() : which_ + 1; }

  const std::shared_ptr<Batch> batch_;
  const std::size_t which_;
  const std::int32_t xid_;
  const TimePoint sent_;
};

}  // namespace holdfast::store::zookeeper
