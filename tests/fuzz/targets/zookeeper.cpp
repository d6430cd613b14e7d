// What a ZooKeeper server says, however it is cut; what we say to it; and the URLs that lead to it.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"
#include "holdfast/store/url.hpp"
#include "store/zookeeper/address.hpp"
#include "store/zookeeper/answers.hpp"
#include "store/zookeeper/jute.hpp"
#include "store/zookeeper/messages.hpp"

namespace holdfast::fuzz {
namespace {

using namespace store;
using namespace store::zookeeper;

constexpr std::array kOps{Op::create,   Op::create_container, Op::remove, Op::exists, Op::get_data,
                          Op::set_data, Op::get_children,     Op::sync,   Op::check};

struct Heard {
  std::vector<std::string> frames;
  std::vector<bool> cut;
  bool broken = false;

  friend bool operator==(const Heard&, const Heard&) = default;
};

// Fed in pieces of up to so many bytes.
Heard heard(std::string_view bytes, std::size_t piece) {
  FrameReader reader;
  Heard all;
  while (!bytes.empty()) {
    reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (const auto frame = reader.next()) {
      all.frames.emplace_back(frame->bytes);
      all.cut.push_back(frame->cut);
    }
  }
  all.broken = reader.broken();
  return all;
}

std::size_t weight_of(const Reply& reply) {
  std::size_t weight = reply.path.size() + reply.data.size();
  for (const std::string& each : reply.children) weight += 4 + each.size();
  return weight;
}

// Every reader gets every frame.
void read_as_anything(const std::string& frame) {
  if (const auto welcome = welcome_in(frame)) {
    require(welcome->timeout_ms >= 0, "a session has a length");
    require(welcome->password.size() <= frame.size(), "and what came of a password");
  }
  const auto head = head_in(frame);
  require(head.has_value() == (frame.size() >= FrameReader::kHead), "a head is a few bytes");
  if (!head) return;
  const std::string_view body = body_in(frame);
  for (const Op op : kOps) {
    const auto reply = reply_in(*head, body, op);
    if (!reply) continue;
    require(weight_of(*reply) <= body.size(), "nobody reads more than came");
    require(op == Op::check || (reply->code == Code::ok) == (head->raw == 0), "a code is a code");
  }
  for (const std::size_t asked : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
    const auto replies = replies_in(*head, body, asked);
    require(!replies || replies->size() == asked, "each part has its answer");
  }
  if (const auto firing = firing_in(body)) {
    require(firing->path.empty() || firing->ended.any(), "a watch that fired stands no more");
  }
}

const Target kAnswers("zookeeper_answers", [](std::string_view bytes) {
  const Heard whole = heard(bytes, std::max<std::size_t>(1, bytes.size()));
  for (const std::size_t piece : {1U, 2U, 7U}) {
    require(heard(bytes, piece) == whole, "frames mean the same however they are cut");
  }
  for (const std::string& frame : whole.frames) read_as_anything(frame);
  read_as_anything(std::string(bytes));
});

// What is asked comes over the wire as it is, in one frame.
const Target kQuestions("zookeeper_questions", [](std::string_view bytes) {
  Input input(bytes);
  const std::int32_t xid = static_cast<std::int32_t>(input.number());
  std::vector<Request> requests;
  while (!input.done() && requests.size() < 4) {
    requests.push_back({.op = kOps[input.byte() % kOps.size()],
                        .path = input.text(),
                        .data = input.text(),
                        .mode = static_cast<Mode>(input.byte() % 3),
                        .version = static_cast<std::int32_t>(input.number()),
                        .watch = input.flag()});
  }
  for (const Request& each : requests) {
    std::string wire;
    append_question(wire, xid, each, input.flag() ? Owners::anyone : Owners::ourselves);
    const Heard frames = heard(wire, wire.size());
    require(frames.frames.size() == 1 && !frames.broken, "a question is one frame");
    JuteReader in(frames.frames[0]);
    require(in.int32() == xid, "with its number");
    in.int32();
    if (each.op == Op::check) continue;
    require(in.text() == each.path && in.ok(), "and its path");
  }
  std::string wire;
  append_question(wire, xid, requests, Owners::anyone);
  require(heard(wire, wire.size()).frames.size() == 1, "so are several as one");
});

const Target kWatches("zookeeper_watches", [](std::string_view bytes) {
  Input input(bytes);
  std::string wire;
  WatchesAgain again(wire, input.number());
  std::size_t added = 0;
  while (!input.done()) {
    std::string path = input.text();
    const std::size_t times = input.byte() % 64U;
    path.append(times * 256, 'x');
    const Watched watched{.data = input.flag(), .creation = input.flag(), .children = input.flag()};
    again.add(path, watched);
    added +=
        std::size_t{watched.data} + std::size_t{watched.creation} + std::size_t{watched.children};
  }
  again.finish();
  std::size_t found = 0;
  for (const std::string& frame : heard(wire, std::max<std::size_t>(1, wire.size())).frames) {
    require(frame.size() < 256 * 1024, "no server finds it too long");
    JuteReader in(frame);
    in.int64();
    in.int64();
    for (int list = 0; list < 3; ++list) found += in.texts().size();
    require(in.ok() && in.rest().empty(), "three lists");
  }
  require(found == added, "each watch is there once");
});

const Target kAddress("zookeeper_address", [](std::string_view bytes) {
  const std::string secret = "hunter2";
  if (bytes.find(secret) != std::string_view::npos) return;
  const std::size_t at = bytes.find('@');
  std::string text(bytes);
  if (at != std::string_view::npos) text.insert(at, ":" + secret);
  const auto url = Url::parse(text);
  if (!url) return;
  // These read files and variables.
  for (const auto& [key, value] : url->options) {
    if (key.starts_with("password_")) return;
  }
  const auto address = parse_address(*url);
  if (!address) {
    require(address.error() == Errc::invalid_argument, "a wrong URL is an invalid argument");
    require(address.error().text().find(secret) == std::string::npos, "a secret is not repeated");
    return require_safe(address.error().text());
  }
  require_safe(to_string(*address));
  require_safe(address->base);
  require(!address->endpoints.empty(), "there is somewhere to go");
  require(address->base.empty() || (address->base[0] == '/' && address->base.back() != '/'),
          "a base is a path");
  require(address->session >= std::chrono::milliseconds(100), "a session has a length");
});

}  // namespace
}  // namespace holdfast::fuzz
