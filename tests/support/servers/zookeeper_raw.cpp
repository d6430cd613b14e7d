#include "support/servers/zookeeper_raw.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace holdfast::test {
namespace {

enum Kind : std::int32_t {
  kRemove = 2,
  kExists = 3,
  kGet = 4,
  kSet = 5,
  kChildren = 12,
  kSync = 9,
  kCreate = 15,
  kCreateContainer = 19,
  kEndSession = -11,
};
constexpr std::int32_t kContainer = 4;
constexpr std::int32_t kEverything = 31;

}  // namespace

// ---- bytes ----

class ZookeeperRaw::Question {
 public:
  explicit Question(std::int32_t kind, std::string about = "")
      : kind_(kind), about_(std::move(about)) {}

  template <class Number>
  Question& number(Number value) {
    using Bits = std::make_unsigned_t<Number>;
    for (std::size_t shift = 8 * sizeof value; shift > 0; shift -= 8) {
      bytes_ += static_cast<char>((static_cast<Bits>(value) >> (shift - 8)) & 0xff);
    }
    return *this;
  }
  Question& flag(bool value) {
    bytes_ += static_cast<char>(value);
    return *this;
  }
  Question& text(const std::string& value) {
    number(static_cast<std::int32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  Question& open_to_everybody() {
    return number(std::int32_t{1}).number(kEverything).text("world").text("anyone");
  }

  std::int32_t kind() const { return kind_; }
  const std::string& about() const { return about_; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::int32_t kind_;
  std::string about_, bytes_;
};

class ZookeeperRaw::Answer {
 public:
  explicit Answer(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class Number>
  Number number() {
    std::make_unsigned_t<Number> value = 0;
    for (const char byte : take(sizeof value)) {
      value = static_cast<decltype(value)>(value << 8 | static_cast<unsigned char>(byte));
    }
    return static_cast<Number>(value);
  }
  std::string text() {
    const auto size = number<std::int32_t>();
    return size < 0 ? "" : take(static_cast<std::size_t>(size));
  }
  ZookeeperStat stat() {
    ZookeeperStat it{};
    for (std::int64_t* each : {&it.created, &it.changed, &it.created_ms, &it.changed_ms}) {
      *each = number<std::int64_t>();
    }
    for (std::int32_t* each : {&it.version, &it.children_version, &it.acl_version}) {
      *each = number<std::int32_t>();
    }
    it.owner = number<std::int64_t>();
    it.size = number<std::int32_t>();
    it.children = number<std::int32_t>();
    it.children_changed = number<std::int64_t>();
    return it;
  }

 private:
  std::string take(std::size_t size) {
    if (bytes_.size() - at_ < size) throw std::runtime_error("a ZooKeeper server talks nonsense");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

// ---- the connection ----

ZookeeperRaw::ZookeeperRaw(const Address& server, std::chrono::milliseconds timeout,
                           std::optional<std::int64_t> session)
    : socket_(connected_socket(server)) {
  Question hello(0);
  hello
      .number(std::int32_t{0})  // version of the protocol
      .number(std::int64_t{0})  // the last transaction that we have seen
      .number(static_cast<std::int32_t>(timeout.count()))
      .number(session.value_or(0))
      .text(session ? zookeeper_password(*session) : std::string(16, '\0'))
      .flag(false);  // a server that only reads would not do
  send(hello.bytes());
  Answer answer(hear());
  answer.number<std::int32_t>();
  timeout_ = std::chrono::milliseconds(answer.number<std::int32_t>());
  session_ = answer.number<std::int64_t>();
  password_ = answer.text();
  if (session_ == 0) throw ZookeeperExpired();
}

ZookeeperRaw::Answer ZookeeperRaw::ask(const Question& question) {
  Question head(0);
  head.number(++questions_).number(question.kind());
  send(head.bytes() + question.bytes());
  while (true) {
    Answer answer(hear());
    const auto number = answer.number<std::int32_t>();
    answer.number<std::int64_t>();  // the transaction
    const auto code = answer.number<std::int32_t>();
    if (number != questions_) continue;  // a watch of the session that we are in
    if (code != 0) throw ZookeeperNo(code, question.about());
    return answer;
  }
}

void ZookeeperRaw::send(const std::string& body) {
  const std::string whole = Question(0).text(body).bytes();
  for (std::size_t at = 0; at < whole.size();) {
    const ssize_t size = ::send(socket_.get(), whole.data() + at, whole.size() - at, MSG_NOSIGNAL);
    if (size <= 0) throw ZookeeperHungUp();
    at += static_cast<std::size_t>(size);
  }
}

std::string ZookeeperRaw::hear() {
  std::string bytes;
  for (std::size_t wanted = 4; bytes.size() < wanted;) {
    pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(patience_.count())) <= 0) {
      throw std::runtime_error("a ZooKeeper server is silent");
    }
    char some[16 * 1024];
    const ssize_t size =
        ::recv(socket_.get(), some, std::min(wanted - bytes.size(), sizeof some), 0);
    if (size <= 0) throw ZookeeperHungUp();
    bytes.append(some, static_cast<std::size_t>(size));
    if (bytes.size() == 4 && wanted == 4) {
      wanted += Answer(bytes).number<std::uint32_t>();
    }
  }
  return bytes.substr(4);
}

// ---- questions ----

ZookeeperNode ZookeeperRaw::create(const std::string& path, const std::string& data, Mode mode) {
  Answer answer = ask(Question(kCreate, "create " + path)
                          .text(path)
                          .text(data)
                          .open_to_everybody()
                          .number(static_cast<std::int32_t>(mode)));
  ZookeeperNode node{.path = answer.text(), .data = data};
  node.stat = answer.stat();
  return node;
}

void ZookeeperRaw::create_container(const std::string& path) {
  ask(Question(kCreateContainer, "create container " + path)
          .text(path)
          .text("")
          .open_to_everybody()
          .number(kContainer));
}

void ZookeeperRaw::remove(const std::string& path, std::int32_t version) {
  ask(Question(kRemove, "remove " + path).text(path).number(version));
}

ZookeeperStat ZookeeperRaw::set(const std::string& path, const std::string& data,
                                std::int32_t version) {
  return ask(Question(kSet, "set " + path).text(path).text(data).number(version)).stat();
}

ZookeeperNode ZookeeperRaw::get(const std::string& path) {
  Answer answer = ask(Question(kGet, "get " + path).text(path).flag(false));
  ZookeeperNode node{.path = path, .data = answer.text()};
  node.stat = answer.stat();
  return node;
}

std::optional<ZookeeperStat> ZookeeperRaw::exists(const std::string& path) {
  try {
    return ask(Question(kExists, "exists " + path).text(path).flag(false)).stat();
  } catch (const ZookeeperNo& no) {
    if (no.code != ZookeeperNo::kNoNode) throw;
    return std::nullopt;
  }
}

std::vector<std::string> ZookeeperRaw::children(const std::string& path) {
  Answer answer = ask(Question(kChildren, "children of " + path).text(path).flag(false));
  std::vector<std::string> names;
  for (auto left = answer.number<std::int32_t>(); left > 0; --left) names.push_back(answer.text());
  std::sort(names.begin(), names.end());
  return names;
}

void ZookeeperRaw::sync(const std::string& path) { ask(Question(kSync, "sync").text(path)); }

void ZookeeperRaw::remove_all(const std::string& path) {
  if (!exists(path)) return;
  for (const std::string& child : children(path)) remove_all(path + "/" + child);
  try {
    remove(path);
  } catch (const ZookeeperNo& no) {
    if (no.code != ZookeeperNo::kNoNode) throw;
  }
}

void ZookeeperRaw::end_session() {
  ask(Question(kEndSession, "end of the session"));
  socket_.reset();
}

// ---- other people's sessions ----

// The first 16 bytes of a generator (that of java.util.Random) whose seed is the session's number, mixed with a
// constant of the server's.
std::string zookeeper_password(std::int64_t session) {
  constexpr std::uint64_t kSecret = 0xb3415c00, kMultiplier = 0x5deece66d, kIncrement = 11;
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;
  std::uint64_t state = ((static_cast<std::uint64_t>(session) ^ kSecret) ^ kMultiplier) & kMask;
  std::string password;
  while (password.size() < 16) {
    state = (state * kMultiplier + kIncrement) & kMask;
    for (int shift = 16; shift < 48; shift += 8) {
      password += static_cast<char>((state >> shift) & 0xff);
    }
  }
  return password;
}

// As soon as we come in with it the server hangs up on the client that has it. If that is back before we have asked for
// the end, or have read the answer, the server hangs up on us.
void end_zookeeper_session(const Address& server, std::int64_t session) {
  bool came_in = false;
  std::string why;
  const bool is_over = eventually([&] {
    try {
      ZookeeperRaw raw(server, std::chrono::seconds(20), session);
      came_in = true;
      raw.be_patient_for(std::chrono::seconds(1));
      raw.end_session();
      return true;
    } catch (const ZookeeperExpired&) {
      if (!came_in) throw;
      return true;
    } catch (const std::runtime_error& error) {
      why = error.what();
      return false;
    }
  });
  if (!is_over) throw std::runtime_error("the session does not end: " + why);
}

std::vector<std::int64_t> zookeeper_sessions(std::string_view cons) {
  constexpr std::string_view kBefore = "sid=0x";
  std::vector<std::int64_t> sessions;
  for (auto at = cons.find(kBefore); at != std::string_view::npos; at = cons.find(kBefore, at)) {
    at += kBefore.size();
    std::uint64_t session = 0;
    std::from_chars(cons.data() + at, cons.data() + cons.size(), session, 16);
    if (session != 0) sessions.push_back(static_cast<std::int64_t>(session));
  }
  return sessions;
}

}  // namespace holdfast::test
