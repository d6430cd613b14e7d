// What a ZooKeeper server answers, as frames of jute. The answer to a question has its number, its xid, and they come
// in the order of the questions. Others have numbers below zero: what a watch saw comes between the answers, at the
// place where it happened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/zookeeper/messages.hpp"
#include "store/zookeeper/tree.hpp"

namespace holdfast::store::zookeeper {

// To a hello.
struct Welcome {
  std::int32_t timeout_ms = 0;  // 0: that session has ended, or never was
  std::int64_t session = 0;
  std::string password{};
};
std::optional<Welcome> welcome_in(std::string_view frame);

struct AnswerHead {
  std::int32_t xid = 0;
  std::int64_t zxid = 0;
  std::int32_t raw = 0;
};
// Of an answer, its head and what follows.
std::optional<AnswerHead> head_in(std::string_view frame);
std::string_view body_in(std::string_view frame);

Code code_of(std::int32_t raw);
// It is about the session or the connection, not about the question.
bool concerns_the_session(std::int32_t raw);
// We may not use this server at all.
bool locks_us_out(std::int32_t raw);

// None: it makes no sense.
std::optional<Reply> reply_in(const AnswerHead&, std::string_view body, Op);
// To all or nothing. A node that was created has no more in its Stat than its zxids.
std::optional<std::vector<Reply>> replies_in(const AnswerHead&, std::string_view body,
                                             std::size_t asked);

// A watch saw something, and stands no more.
struct Firing {
  std::string path;  // empty: it is about the connection
  Event event = Event::data_changed;
  Watched ended{};
};
std::optional<Firing> firing_in(std::string_view body);

}  // namespace holdfast::store::zookeeper
