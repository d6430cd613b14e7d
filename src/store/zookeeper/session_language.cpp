// The connection's side of a Session: what comes, and how one connection follows another.
#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

#include "store/zookeeper/question.hpp"
#include "store/zookeeper/session.hpp"
#include "transport/insist.hpp"

namespace holdfast::store::zookeeper {
namespace {

using namespace std::chrono_literals;
using transport::Patience;

}  // namespace

// --- from one connection to the next ---

// On the worker. The session is there as long as it is renewed: a dial must not take all of its time, but has
// to have a chance.
Result<std::unique_ptr<transport::Stream>> Session::redial(TimePoint until, int give_up) {
  Credentials credentials;
  std::size_t last = kNoneYet;
  bool given_up = false;
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return Error(Errc::cancelled, "the client was closed");
    credentials = credentials_;
    last = endpoint_;
    const TimePoint now = clock_.now();
    given_up = now >= later(ended_at_, timeout_);
    until = std::min(until, later(now, std::max<Duration>(timeout_ / 3, 1s)));
  }
  const Patience all{clock_, until, give_up};
  auto dialled = dial(address_, credentials, given_up ? all.part(2) : all, random_, last);
  if (!dialled && dialled.error() == Errc::lost) {
    {
      const std::lock_guard lock(mutex_);
      end_session();
    }
    credentials = {.last_zxid = credentials.last_zxid};
    dialled = dial(address_, credentials, all, random_, kNoneYet);
  } else if (!dialled && given_up) {
    // They take others: it is what we have seen that they have lost.
    auto anew = dial(address_, {}, all, random_, last);
    if (anew) dialled = std::move(anew);
  }
  if (!dialled) return dialled.error();
  auto stream = std::move(dialled->stream);
  const std::lock_guard lock(mutex_);
  dialled_ = std::move(*dialled);
  return stream;
}

std::string Session::begun(std::uint64_t stream) {
  reader_.reset();
  const std::lock_guard lock(mutex_);
  const bool goes_on = dialled_->credentials.session == credentials_.session;
  if (!goes_on) end_session();  // which may lack memory: then this stream has not begun
  const Dialled dialled = *std::exchange(dialled_, std::nullopt);
  credentials_ = dialled.credentials;
  timeout_ = goes_on ? std::min(timeout_, dialled.timeout) : dialled.timeout;
  endpoint_ = dialled.endpoint;
  if (goes_on) {
    standing_.goes_on(dialled.sent, dialled.timeout);
  } else {
    standing_.begins(dialled.sent, dialled.timeout);
  }
  stream_ = stream;
  connected_ = true;
  lacks_watches_ = false;
  waits_since_.reset();
  try {
    std::string words = watches_.again(credentials_.last_zxid);
    tasks_.post([this] { speak_first(); });
    return words;
  } catch (const std::bad_alloc&) {
    lacks_watches_ = true;  // the next beat will try it with another connection
    return {};
  }
}

// What is held gets no older over the new connection than it has to.
void Session::speak_first() {
  bool proves = false;
  {
    const std::lock_guard lock(mutex_);
    proves = connected_ && kept_valid_;
  }
  if (proves) send_proof();
  send_leavings();
}

void Session::ended() {
  const std::lock_guard lock(mutex_);
  connected_ = false;
  ended_at_ = clock_.now();
  standing_.broke();
  pings_.clear();
}

// Under mutex_. All that needs memory comes first.
void Session::end_session() {
  if (credentials_.session == 0) return;
  const auto gone = std::make_shared<Leavings>();
  tasks_.post([this, session = credentials_.session, gone] {
    Listener* listener = nullptr;
    {
      const std::lock_guard lock(mutex_);  // and with it what follows below
      listener = listener_;
    }
    transport::insist([&] { gone->tell_all(); });
    if (listener != nullptr) listener->session_ended(session);
  });
  *gone = std::exchange(leavings_, {});
  credentials_.session = 0;
  credentials_.password.clear();
  standing_.end();
  watches_ = {};
}

std::string Session::server() const {
  const std::lock_guard lock(mutex_);
  return endpoint_ == kNoneYet ? to_string(address_)
                               : transport::to_string(address_.endpoints[endpoint_]);
}

// --- what comes ---

void Session::feed(std::string_view bytes) {
  reader_.feed(bytes);
  if (bytes.empty()) return;
  const std::lock_guard lock(mutex_);
  waits_since_.reset();
}

transport::Language::Next Session::next() {
  while (const auto frame = reader_.next()) {
    const auto head = head_in(frame->bytes);
    if (!head) return Next::broken;
    switch (head->xid) {
      case kEventXid:
        if (!tell(body_in(frame->bytes))) return Next::broken;
        continue;
      case kPingXid:
        pinged();
        continue;
      case kWatchesXid:
        watches_set(*head);
        continue;
      default:
        break;
    }
    head_ = *head;
    body_ = body_in(frame->bytes);
    cut_ = frame->cut;
    return Next::answer;
  }
  return reader_.broken() ? Next::broken : Next::nothing_yet;
}

bool Session::tell(std::string_view body) {
  const auto firing = firing_in(body);
  if (!firing) return false;
  std::unique_lock lock(mutex_);
  if (!watches_.fired(*firing)) return true;
  Listener* const listener = listener_;
  lock.unlock();
  if (listener != nullptr) listener->fired(firing->path, firing->event);
  return true;
}

void Session::pinged() {
  const std::lock_guard lock(mutex_);
  if (pings_.empty()) return;
  standing_.answered(pings_.front(), clock_.now());
  pings_.pop_front();
}

// Who relies on watches that could not be set again had better look.
void Session::watches_set(const AnswerHead& head) {
  if (head.raw == 0) return;
  std::vector<std::string> paths;
  std::unique_lock lock(mutex_);
  paths = watches_.take();
  Listener* const listener = listener_;
  lock.unlock();
  if (listener == nullptr) return;
  for (const std::string& path : paths) listener->fired(path, Event::data_changed);
}

bool Session::answer(transport::Asker& asker) {
  auto& question = static_cast<Question&>(asker);
  if (head_.xid != question.xid()) return false;
  if (concerns_the_session(head_.raw)) {
    refuse(question, head_.raw);
    return true;
  }
  if (cut_) {
    question.read_too_much(head_);
  } else if (!question.read(head_, body_)) {
    return false;
  }
  note(question, head_);
  try {
    question.done();
  } catch (const std::bad_alloc&) {
    // It was answered; who could not go on with that answers for itself, and others have no part in it.
  }
  return true;
}

// The next hello will tell what has become of the session.
void Session::refuse(Question& question, std::int32_t raw) {
  shared_.hang_up();
  if (locks_us_out(raw)) {
    question.failed({Errc::permission, false, "ZooKeeper wants to know who we are"});
  } else {
    question.failed({Errc::unavailable, true, "ZooKeeper says that the session has ended"});
  }
}

void Session::note(const Question& question, const AnswerHead& head) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = clock_.now();
  credentials_.last_zxid = std::max(credentials_.last_zxid, head.zxid);
  if (question.is_agreed()) {
    standing_.agreed(question.sent(), now);
  } else {
    standing_.answered(question.sent(), now);
  }
  question.for_each(
      [this](const Request& request, const Reply& reply) { watches_.asked(request, reply.code); });
}

}  // namespace holdfast::store::zookeeper
