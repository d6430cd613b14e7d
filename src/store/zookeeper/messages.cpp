#include "store/zookeeper/messages.hpp"

#include <utility>

#include "store/zookeeper/jute.hpp"
#include "store/zookeeper/opcode.hpp"

namespace holdfast::store::zookeeper {
namespace {

constexpr std::int32_t kContainerMode = 4;
constexpr std::int32_t kAllRights = 31;

std::int32_t opcode_of(Op op) {
  switch (op) {
    case Op::create:
      return opcode::kCreate2;
    case Op::create_container:
      return opcode::kCreateContainer;
    case Op::remove:
      return opcode::kDelete;
    case Op::exists:
      return opcode::kExists;
    case Op::get_data:
      return opcode::kGetData;
    case Op::set_data:
      return opcode::kSetData;
    case Op::get_children:
      return opcode::kGetChildren2;
    case Op::sync:
      return opcode::kSync;
    case Op::check:
      return opcode::kCheck;
  }
  return opcode::kNone;
}

std::int32_t mode_of(Mode mode) {
  switch (mode) {
    case Mode::persistent:
      return 0;
    case Mode::ephemeral:
      return 1;
    case Mode::ephemeral_sequential:
      return 3;
  }
  return 0;
}

void write_rights(JuteWriter& out, Owners owners) {
  out.int32(1);  // one entry
  out.int32(kAllRights);
  out.text(owners == Owners::anyone ? "world" : "auth");
  out.text(owners == Owners::anyone ? "anyone" : "");
}

void write_body(JuteWriter& out, const Request& request, Owners owners) {
  out.text(request.path);
  switch (request.op) {
    case Op::create:
    case Op::create_container:
      out.text(request.data);
      write_rights(out, owners);
      out.int32(request.op == Op::create ? mode_of(request.mode) : kContainerMode);
      return;
    case Op::exists:
    case Op::get_data:
    case Op::get_children:
      out.boolean(request.watch);
      return;
    case Op::set_data:
      out.text(request.data);
      [[fallthrough]];
    case Op::remove:
    case Op::check:
      out.int32(request.version);
      return;
    case Op::sync:
      return;
  }
}

void write_part_head(JuteWriter& out, std::int32_t opcode, bool done) {
  out.int32(opcode);
  out.boolean(done);
  out.int32(-1);
}

}  // namespace

// --- the beginning and the end of a connection ---

void append_hello(std::string& out, const Hello& hello) {
  append_frame(out, [&](JuteWriter& to) {
    to.int32(0);  // the version of the protocol
    to.int64(hello.last_zxid);
    to.int32(hello.timeout_ms);
    to.int64(hello.session);
    to.text(hello.password);
    to.boolean(false);  // a server that can only be read from is of no use
  });
}

void append_identity(std::string& out, std::string_view user, std::string_view password) {
  append_frame(out, [&](JuteWriter& to) {
    to.int32(kIdentityXid);
    to.int32(opcode::kAuth);
    to.int32(0);  // not used
    to.text("digest");
    to.text(std::string(user) + ":" + std::string(password));
  });
}

void append_ping(std::string& out) {
  append_frame(out, [](JuteWriter& to) {
    to.int32(kPingXid);
    to.int32(opcode::kPing);
  });
}

void append_goodbye(std::string& out, std::int32_t xid) {
  append_frame(out, [&](JuteWriter& to) {
    to.int32(xid);
    to.int32(opcode::kCloseSession);
  });
}

// --- questions ---

void append_question(std::string& out, std::int32_t xid, const Request& request, Owners owners) {
  // By itself servers do not know it.
  if (request.op == Op::check) return append_question(out, xid, std::span(&request, 1), owners);
  append_frame(out, [&](JuteWriter& to) {
    to.int32(xid);
    to.int32(opcode_of(request.op));
    write_body(to, request, owners);
  });
}

void append_question(std::string& out, std::int32_t xid, std::span<const Request> requests,
                     Owners owners) {
  append_frame(out, [&](JuteWriter& to) {
    to.int32(xid);
    to.int32(opcode::kMulti);
    for (const Request& each : requests) {
      write_part_head(to, opcode_of(each.op), false);
      write_body(to, each, owners);
    }
    write_part_head(to, opcode::kNone, true);
  });
}

void WatchesAgain::add(const std::string& path, const Watched& watched) {
  constexpr std::size_t kAtOnce = std::size_t{128} * 1024;
  const std::size_t more = path.size() + kFrameLength;
  for (const auto& [wanted, list] : {std::pair(watched.data, &data_),
                                     {watched.creation, &creation_},
                                     {watched.children, &children_}}) {
    if (!wanted) continue;
    if (bytes_ + more > kAtOnce) finish();
    list->push_back(path);
    bytes_ += more;
  }
}

void WatchesAgain::finish() {
  if (std::exchange(bytes_, 0) == 0) return;
  append_frame(out_, [&](JuteWriter& to) {
    to.int32(kWatchesXid);
    to.int32(opcode::kSetWatches);
    to.int64(last_zxid_);
    for (std::vector<std::string>* list : {&data_, &creation_, &children_}) {
      to.texts(*list);
      list->clear();
    }
  });
}

}  // namespace holdfast::store::zookeeper
