#include "store/redis/subscriber.hpp"

#include <poll.h>

#include <utility>

#include "store/redis/failure.hpp"

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
  const auto [entry, is_new] = wanted_.try_emplace(channel, 0);
  if (is_new) anew_.insert(channel);
  if (entry->second++ == 0) catch_up_soon();
}

void Subscriber::give_up(const std::string& channel) {
  const std::lock_guard lock(mutex_);
  const auto found = wanted_.find(channel);
  if (closed_ || found == wanted_.end() || --found->second > 0) return;
  catch_up_soon();
}

void Subscriber::leave(const std::string& channel) {
  const std::lock_guard lock(mutex_);
  const auto found = wanted_.find(channel);
  if (closed_ || found == wanted_.end() || --found->second > 0) return;
  wanted_.erase(found);
  catch_up_soon();
}

// Under mutex_.
void Subscriber::catch_up_soon() {
  if (catching_up_) return;
  tasks_.post([this] { catch_up(); });
  catching_up_ = true;  // not if there was no memory for it
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
  tasks_.post([this, channel, until, kept = std::move(then)]() mutable {
    asking_.push_back({channel, until, std::move(kept)});
    tasks_.call_at(until, [this] { tell_askers(); });
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

void Subscriber::catch_up() {
  bool idle = false, wanted = false;
  std::set<std::string> anew;
  {
    const std::lock_guard lock(mutex_);
    catching_up_ = false;
    for (const auto& [channel, count] : wanted_) (count == 0 ? idle : wanted) = true;
    if (stream_) {
      anew.swap(anew_);
      join_and_leave(anew);
    }
  }
  if (idle && !std::exchange(sweeping_, true)) {
    tasks_.call_at(later(parts_.clock.now(), kKeepIdle), [this] { sweep(); });
  }
  if (!stream_) {
    if (!wanted || dialling_) return;
    parts_.redialler.dial(
        {.done = tasks_.guarded([this](std::unique_ptr<Stream> stream) { use(std::move(stream)); }),
         .failed = [](const Error&) {},
         .failures = failures_});
    dialling_ = true;  // not if there was no memory for it
    return;
  }
  for (const std::string& channel : anew) parts_.stands(channel);
  send();
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
  parts_.loop.watch_fd(stream_->fd(), POLLIN, this);
  catch_up();
  if (!std::exchange(ticking_, true)) tick();
}

void Subscriber::send() {
  if (!stream_ || (out_.empty() && !half_sent_)) return;
  const Stream::Went how = stream_->write(out_);
  half_sent_ = how == Stream::Went::again;
  switch (how) {
    case Stream::Went::well:
      return;
    case Stream::Went::wrong:
      return hang_up();
    case Stream::Went::again:
      tasks_.call_at(later(parts_.clock.now(), kSendAgain), [this] { send(); });
  }
}

void Subscriber::on_ready(std::uint32_t) {
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

void Subscriber::tell_askers() {
  std::list<Asking> told;
  const bool refused = !refusal().empty();
  const TimePoint now = parts_.clock.now();
  for (auto it = asking_.begin(); it != asking_.end();) {
    const auto next = std::next(it);
    if (refused || now >= it->until || stands(it->channel)) {
      told.splice(told.end(), asking_, it);
    }
    it = next;
  }
  for (Asking& each : told) each.then();
}

void Subscriber::hang_up() {
  if (!stream_) return;
  parts_.loop.watch_fd(stream_->fd(), 0, this);
  stream_.reset();
  failures_ = lives_.end(parts_.clock.now());
  {
    const std::lock_guard lock(mutex_);
    standing_.clear();
  }
  catch_up();
}

void Subscriber::tick() {
  tasks_.call_at(later(parts_.clock.now(), kSilence), [this] { tick(); });
  if (!stream_) return;
  const TimePoint now = parts_.clock.now();
  if (pinged_at_ > heard_at_ && now - pinged_at_ >= kSilence) return hang_up();
  if (now - pinged_at_ < kPingEvery) return;
  pinged_at_ = now;
  append_command(out_, Words{"PING"});
  send();
}

}  // namespace holdfast::store::redis
