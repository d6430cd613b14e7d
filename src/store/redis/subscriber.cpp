#include "store/redis/subscriber.hpp"

#include <poll.h>

#include <algorithm>
#include <new>
#include <utility>

#include "store/redis/failure.hpp"
#include "transport/insist.hpp"

namespace holdfast::store::redis {
namespace {

using namespace std::chrono_literals;
using transport::Stream;

constexpr Duration kPingEvery = 10s;
constexpr Duration kSilence = 5s;  // after a ping
constexpr Duration kKeepIdle = 5s;
constexpr Duration kSendAgain = 1ms;

}  // namespace

Subscriber::Subscriber(Parts parts) : parts_(std::move(parts)), tasks_(parts_.loop) {}

void Subscriber::want(const std::string& channel) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  // What counts comes last: whoever is refused memory has not wanted it, and it does no harm to catch up for nothing.
  const auto found = wanted_.find(channel);
  if (found == wanted_.end() || found->second == 0) catch_up_soon();
  if (found == wanted_.end()) anew_.insert(channel);
  ++wanted_[channel];
}

void Subscriber::give_up(const std::string& channel) {
  const std::lock_guard lock(mutex_);
  const auto found = wanted_.find(channel);
  if (closed_ || found == wanted_.end() || --found->second > 0) return;
  catch_up_sometime();
}

void Subscriber::leave(const std::string& channel) {
  const std::lock_guard lock(mutex_);
  const auto found = wanted_.find(channel);
  if (closed_ || found == wanted_.end() || --found->second > 0) return;
  wanted_.erase(found);
  catch_up_sometime();
}

// Under mutex_.
void Subscriber::catch_up_soon() {
  if (catching_up_) return;
  tasks_.post([this] { or_hang_up(&Subscriber::catch_up); });
  catching_up_ = true;  // not if there was no memory for it
}

// Under mutex_. Without memory the next tick does it: destructors give up, and must not throw.
void Subscriber::catch_up_sometime() {
  try {
    catch_up_soon();
  } catch (const std::bad_alloc&) {
  }
}

bool Subscriber::stands(const std::string& channel) const {
  const std::lock_guard lock(mutex_);
  return standing_.contains(channel);
}

std::string Subscriber::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

void Subscriber::when_known(const std::string& channel, TimePoint until, Task then) {
  // All that needs memory is done here: on the loop there is nobody to tell that there is none.
  std::list<Asking> one;
  one.push_back({channel, until, std::move(then)});
  tasks_.call_at(until, [this] { tell_askers(); });
  tasks_.post([this, one = std::move(one)]() mutable {
    asking_.splice(asking_.end(), one);
    tell_askers();
  });
}

void Subscriber::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  tasks_.end([this] {
    if (stream_) parts_.loop.watch_fd(stream_->fd(), 0, this);
    stream_.reset();
    asking_.clear();
  });
}

// --- on the loop ---

// Whatever lacks memory half-way counts as a stream that broke: over the next one all is joined and told anew.
void Subscriber::or_hang_up(void (Subscriber::*step)()) {
  try {
    (this->*step)();
  } catch (const std::bad_alloc&) {
    hang_up();
  }
}

void Subscriber::catch_up() {
  bool idle = false;
  std::set<std::string> anew;
  {
    const std::lock_guard lock(mutex_);
    catching_up_ = false;
    for (const auto& [channel, count] : wanted_) idle |= count == 0;
    if (stream_) {
      anew.swap(anew_);
      join_and_leave(anew);
    }
  }
  if (!stream_) dial();
  if (idle && !sweeping_) {
    tasks_.call_at(later(parts_.clock.now(), kKeepIdle),
                   [this] { or_hang_up(&Subscriber::sweep); });
    sweeping_ = true;  // not if there was no memory for it
  }
  for (const std::string& channel : anew) parts_.stands(channel);
  send();
}

// Insists, and throws nothing: there is no stream that could be given up instead.
void Subscriber::dial() {
  if (dialling_ || !anybody_wants()) return;
  transport::insist([this] {
    parts_.redialler.dial(
        {.done = tasks_.guarded([this](std::unique_ptr<Stream> stream) { use(std::move(stream)); }),
         .failed = [](const Error&) {},
         .failures = failures_});
  });
  dialling_ = true;
}

bool Subscriber::anybody_wants() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(wanted_.begin(), wanted_.end(),
                     [](const auto& each) { return each.second > 0; });
}

// Under mutex_. Of those that are wanted anew, leaves the ones that were not left in the meantime.
void Subscriber::join_and_leave(std::set<std::string>& anew) {
  for (const auto& [channel, count] : wanted_) {
    if (joined_.insert(channel).second) append_command(out_, Words{"SUBSCRIBE", channel});
  }
  std::erase_if(joined_, [&](const std::string& channel) {
    if (wanted_.contains(channel)) return false;
    append_command(out_, Words{"UNSUBSCRIBE", channel});
    standing_.erase(channel);
    return true;
  });
  std::erase_if(anew, [&](const std::string& channel) { return !standing_.contains(channel); });
}

void Subscriber::sweep() {
  sweeping_ = false;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(wanted_, [](const auto& each) { return each.second == 0; });
  }
  catch_up();
}

void Subscriber::use(std::unique_ptr<Stream> stream) {
  dialling_ = false;
  stream_ = std::move(stream);
  lives_.begin(parts_.clock.now());
  joined_.clear();
  out_.clear();
  half_sent_ = false;
  reader_.reset();
  heard_at_ = pinged_at_ = parts_.clock.now();
  or_hang_up(&Subscriber::begin);
}

void Subscriber::begin() {
  parts_.loop.watch_fd(stream_->fd(), POLLIN, this);
  catch_up();
  if (!ticking_) tick();
}

void Subscriber::send() {
  if (!stream_ || (out_.empty() && !half_sent_)) return;
  Stream::Went how = Stream::Went::well;
  do how = stream_->write(out_);
  while (how == Stream::Went::well && !out_.empty());  // TLS takes a record at a time
  half_sent_ = how == Stream::Went::again;
  switch (how) {
    case Stream::Went::well:
      return;
    case Stream::Went::wrong:
      return hang_up();
    case Stream::Went::again:
      return send_later();
  }
}

void Subscriber::send_later() {
  if (sending_later_) return;
  tasks_.call_at(later(parts_.clock.now(), kSendAgain), [this] {
    sending_later_ = false;
    or_hang_up(&Subscriber::send);
  });
  sending_later_ = true;  // not if there was no memory for it
}

void Subscriber::on_ready(std::uint32_t events) {
  if ((events & POLLNVAL) != 0) return hang_up();  // the kernel does not watch it
  or_hang_up(&Subscriber::read);
}

void Subscriber::read() {
  std::string bytes;
  const Stream::Went how = stream_->read(bytes);
  if (!bytes.empty()) heard_at_ = parts_.clock.now();
  reader_.feed(bytes);
  while (const auto reply = reader_.next()) listen(*reply);
  if (how == Stream::Went::wrong || reader_.broken()) hang_up();
}

// ["subscribe", channel, count], ["message", channel, words], ["pong", ""].
void Subscriber::listen(const Reply& reply) {
  if (reply.is(Reply::Type::error)) {
    {
      const std::lock_guard lock(mutex_);
      refusal_ = failure_of(reply.text).text;
    }
    tell_askers();
  }
  if (reply.items.size() != 3) return;
  const std::string& channel = reply.items[1].text;
  if (reply.items[0].is_text("message")) parts_.heard(channel, reply.items[2].text);
  if (reply.items[0].is_text("unsubscribe")) {
    const std::lock_guard lock(mutex_);
    standing_.erase(channel);
  }
  if (!reply.items[0].is_text("subscribe")) return;
  {
    const std::lock_guard lock(mutex_);
    standing_.insert(channel);
    refusal_.clear();
  }
  parts_.stands(channel);
  tell_askers();
}

// Needs no memory, and throws nothing. An asker that lacks some does not take those behind it along.
void Subscriber::tell_askers() {
  std::list<Asking> told;
  const TimePoint now = parts_.clock.now();
  {
    const std::lock_guard lock(mutex_);
    for (auto it = asking_.begin(); it != asking_.end();) {
      const auto each = it++;
      if (!refusal_.empty() || now >= each->until || standing_.contains(each->channel)) {
        told.splice(told.end(), asking_, each);
      }
    }
  }
  for (Asking& each : told) {
    try {
      each.then();
    } catch (const std::bad_alloc&) {
    }
  }
}

// Throws nothing.
void Subscriber::hang_up() {
  if (!stream_) return;
  parts_.loop.watch_fd(stream_->fd(), 0, this);
  stream_.reset();
  failures_ = lives_.end(parts_.clock.now());
  {
    const std::lock_guard lock(mutex_);
    standing_.clear();
  }
  dial();
}

// From the first stream on. Catches up, too, for those who had no memory to ask for it.
void Subscriber::tick() {
  ticking_ = false;
  tasks_.call_at(later(parts_.clock.now(), kSilence), [this] { or_hang_up(&Subscriber::tick); });
  ticking_ = true;  // not if there was no memory for it: then the next stream begins with it
  if (!stream_) return;
  const TimePoint now = parts_.clock.now();
  if (pinged_at_ > heard_at_ && now - pinged_at_ >= kSilence) return hang_up();
  if (now - pinged_at_ >= kPingEvery) {
    pinged_at_ = now;
    append_command(out_, Words{"PING"});
  }
  catch_up();
}

}  // namespace holdfast::store::redis
