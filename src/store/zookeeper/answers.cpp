#include "store/zookeeper/answers.hpp"

#include <utility>

#include "store/zookeeper/jute.hpp"
#include "store/zookeeper/opcode.hpp"

namespace holdfast::store::zookeeper {
namespace {

constexpr std::int32_t kOk = 0;

// What an answer says besides its head, if there was no error.
void read_body(JuteReader& in, Op op, Reply& reply) {
  switch (op) {
    case Op::create:
    case Op::create_container:
      reply.path = in.text();
      reply.stat = in.stat();
      return;
    case Op::get_data:
      reply.data = in.text();
      [[fallthrough]];
    case Op::exists:
    case Op::set_data:
      reply.stat = in.stat();
      return;
    case Op::get_children:
      reply.children = in.texts();
      reply.stat = in.stat();
      return;
    case Op::sync:
      reply.path = in.text();
      return;
    case Op::remove:
    case Op::check:
      return;
  }
}

Reply bare_reply(const AnswerHead& head) {
  return {.code = code_of(head.raw), .zxid = head.zxid, .raw = head.raw};
}

// One part of an answer to a multi. What was asked is answered with the same opcode, or with that of an
// older question: 3.8.0 answers a create2 as a create, without a Stat.
bool read_part(JuteReader& in, Reply& reply) {
  const std::int32_t opcode = in.int32();
  if (in.boolean()) return false;  // the end, too early
  in.int32();                      // the error, which stands in the part again
  switch (opcode) {
    case opcode::kNone:
      reply.raw = in.int32();
      // If one fails none is done. The others have 0 or a number that says no more.
      reply.code = reply.raw == kOk ? Code::other : code_of(reply.raw);
      break;
    case opcode::kCreate:
      reply.path = in.text();
      reply.stat.czxid = reply.stat.mzxid = reply.stat.pzxid = reply.zxid;
      break;
    case opcode::kCreate2:
    case opcode::kCreateContainer:
      read_body(in, Op::create, reply);
      break;
    case opcode::kSetData:
      reply.stat = in.stat();
      break;
    case opcode::kDelete:
    case opcode::kCheck:
      break;
    default:
      return false;
  }
  return in.ok();
}

}  // namespace

std::optional<Welcome> welcome_in(std::string_view frame) {
  JuteReader in(frame);
  in.int32();  // the version of the protocol
  Welcome welcome;
  welcome.timeout_ms = in.int32();
  welcome.session = in.int64();
  welcome.password = in.text();  // servers from 3.4 on add whether they can only be read from
  if (!in.ok() || welcome.timeout_ms < 0) return std::nullopt;
  return welcome;
}

std::optional<AnswerHead> head_in(std::string_view frame) {
  JuteReader in(frame);
  AnswerHead head;
  head.xid = in.int32();
  head.zxid = in.int64();
  head.raw = in.int32();
  if (!in.ok()) return std::nullopt;
  return head;
}

std::string_view body_in(std::string_view frame) { return frame.substr(FrameReader::kHead); }

Code code_of(std::int32_t raw) {
  switch (raw) {
    case kOk:
      return Code::ok;
    case -101:
      return Code::no_node;
    case -102:
      return Code::no_auth;
    case -103:
      return Code::bad_version;
    case -108:
      return Code::no_children_for_ephemerals;
    case -110:
      return Code::node_exists;
    case -111:
      return Code::not_empty;
    default:
      return Code::other;
  }
}

bool locks_us_out(std::int32_t raw) {
  return raw == -115 ||  // AUTHFAILED
         raw == -124;    // SESSIONCLOSEDREQUIRESASLAUTH
}

bool concerns_the_session(std::int32_t raw) {
  return raw == -4 ||    // CONNECTIONLOSS
         raw == -12 ||   // UNKNOWNSESSION
         raw == -112 ||  // SESSIONEXPIRED
         raw == -118 ||  // SESSIONMOVED
         locks_us_out(raw);
}

std::optional<Reply> reply_in(const AnswerHead& head, std::string_view body, Op op) {
  if (op == Op::check) {
    auto replies = replies_in(head, body, 1);
    if (!replies) return std::nullopt;
    return std::move(replies->front());
  }
  Reply reply = bare_reply(head);
  if (head.raw != kOk) return reply;
  JuteReader in(body);
  read_body(in, op, reply);
  if (!in.ok()) return std::nullopt;
  return reply;
}

std::optional<std::vector<Reply>> replies_in(const AnswerHead& head, std::string_view body,
                                             std::size_t asked) {
  std::vector<Reply> replies(asked, bare_reply(head));
  if (head.raw != kOk) return replies;
  JuteReader in(body);
  for (Reply& each : replies) {
    if (!read_part(in, each)) return std::nullopt;
  }
  in.int32();
  if (!in.boolean() || !in.ok()) return std::nullopt;  // there is more than was asked
  return replies;
}

std::optional<Firing> firing_in(std::string_view body) {
  JuteReader in(body);
  const std::int32_t type = in.int32();
  in.int32();  // the state of the connection
  Firing firing;
  firing.path = in.text();
  if (!in.ok()) return std::nullopt;
  switch (type) {
    case 1:
      firing.event = Event::created;
      break;
    case 2:
      firing.event = Event::deleted;
      break;
    case 3:
      firing.event = Event::data_changed;
      break;
    case 4:
      firing.event = Event::children_changed;
      break;
    default:
      firing.path.clear();
  }
  const bool of_children = firing.event == Event::children_changed;
  firing.ended = {.data = !of_children,
                  .creation = !of_children,
                  .children = of_children || firing.event == Event::deleted};
  return firing;
}

}  // namespace holdfast::store::zookeeper
