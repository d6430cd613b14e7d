#include "transport/shared_connection.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <utility>

#include "transport/insist.hpp"

namespace holdfast::transport {
namespace {

using namespace std::chrono_literals;
using store::NoAnswer;

constexpr Duration kSilenceTick = 500ms;
constexpr Duration kSilence = 1s;      // after the deadline of the oldest question
constexpr Duration kFlushAgain = 1ms;  // a socket that takes nothing more
constexpr Duration kIdle = 2ms;        // longer than a caller needs from one question to its next
constexpr int kAnswersAtOnce = 4;
constexpr std::size_t kMostUnsent = 64 * 1024 * 1024;

}  // namespace

SharedConnection::SharedConnection(const Parts& parts)
    : parts_(parts),
      interrupted_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      tasks_(parts.loop),
      role_(*this, parts.clock) {}

SharedConnection::~SharedConnection() { close(); }

void SharedConnection::begin(std::unique_ptr<Stream> stream) { use(std::move(stream)); }

// --- asking ---

void SharedConnection::ask(std::string bytes, std::span<std::unique_ptr<Asker>> askers,
                           std::uint64_t over) {
  std::unique_lock lock(mutex_);
  if (const auto no = objection(over)) {
    lock.unlock();
    for (const auto& asker : askers) fail(*asker, *no);
    return;
  }
  // All that needs memory comes first: an answer whose asker is missing would go to the next one.
  if (!out_.empty()) out_.reserve(out_.size() + bytes.size());
  const auto waits = [](const auto& each) { return each->waits(); };
  if (loop_reads_ && !std::all_of(askers.begin(), askers.end(), waits)) watch(true);
  if (!silence_watched_) watch_silence();
  for (const auto& asker : askers) asker->more_follow_ = asker != askers.back();
  open_.insert(open_.end(), std::make_move_iterator(askers.begin()),
               std::make_move_iterator(askers.end()));
  if (out_.empty()) {
    out_ = std::move(bytes);
  } else {
    out_ += bytes;
  }
  if (!gathering_) flush_unless_others_will(lock);
}

// Under mutex_. Why nothing can be asked.
std::optional<NoAnswer> SharedConnection::objection(std::uint64_t over) const {
  if (!connected_) return why_not_;
  if (over != kAnyStream && over != number_) {
    return NoAnswer{Errc::unavailable, false, "the connection was replaced by another one"};
  }
  if (out_.size() > kMostUnsent) {
    return NoAnswer{Errc::unavailable, false, "the server takes nothing any more"};
  }
  return std::nullopt;
}

void SharedConnection::flush_unless_others_will(std::unique_lock<std::mutex>& lock) {
  if (connected_ && !writing_ && !flush_waits_) flush(lock);
}

// Writes what there is, also what others leave here meanwhile. Without memory for that the stream is given up:
// nobody knows how much has gone.
void SharedConnection::flush(std::unique_lock<std::mutex>& lock) {
  writing_ = true;
  Stream::Went how = Stream::Went::wrong;
  try {
    how = write_out(lock);
    if (connected_ && how == Stream::Went::again) flush_later();
  } catch (const std::bad_alloc&) {
    how = Stream::Went::wrong;
    if (!lock) lock.lock();
  }
  writing_ = false;
  if (connected_ && how == Stream::Went::wrong) stream_->hang_up();  // the reader will see
}

Stream::Went SharedConnection::write_out(std::unique_lock<std::mutex>& lock) {
  Stream::Went how = Stream::Went::well;
  while (connected_ && how == Stream::Went::well && (!out_.empty() || half_sent_)) {
    std::string bytes = std::exchange(out_, {});
    Stream& stream = *stream_;
    lock.unlock();
    how = stream.write(bytes);
    lock.lock();
    if (!bytes.empty()) out_.insert(0, bytes);
    half_sent_ = how == Stream::Went::again;
  }
  return how;
}

// Rare: the socket's buffer takes a few thousand questions.
void SharedConnection::flush_later() {
  tasks_.call_at(later(parts_.clock.now(), kFlushAgain), [this] {
    std::unique_lock lock(mutex_);
    flush_waits_ = false;
    flush_unless_others_will(lock);
  });
  flush_waits_ = true;  // not if there was no memory for it
}

// --- reading ---

void SharedConnection::interrupt() { ::eventfd_write(interrupted_.get(), 1); }

// Only while nobody replaces the stream: the role sees to that. Between the questions of one caller there is
// nothing to watch for, and two system calls to save.
void SharedConnection::let_loop_watch(bool on) {
  const std::lock_guard lock(mutex_);
  loop_reads_ = false;
  used_ = true;
  if (!on || parts_.hears_unasked || !open_.empty()) {
    watch(on);
  } else {
    if (!watched_later_) watch_if_idle();
    watched_later_ = true;
  }
  loop_reads_ = on;  // not if there was no memory for it
}

// Under mutex_.
void SharedConnection::watch(bool on) {
  if (watched_ == on) return;
  parts_.loop.watch_fd(stream_->fd(), on ? POLLIN : 0, this);
  watched_ = on;
}

// Under mutex_. That the server hangs up on us is noticed then, too.
void SharedConnection::watch_if_idle() {
  used_ = false;
  tasks_.call_at(later(parts_.clock.now(), kIdle), [this] {
    insist([this] {
      const std::lock_guard lock(mutex_);
      if (loop_reads_ && !watched_ && used_) return watch_if_idle();
      if (loop_reads_) watch(true);
      watched_later_ = false;
    });
  });
}

bool SharedConnection::read_once(TimePoint until) {
  std::array<pollfd, 2> polled{{{stream_->fd(), POLLIN, 0}, {interrupted_.get(), POLLIN, 0}}};
  const Duration left = left_until(until, parts_.clock.now());
  const timespec time{static_cast<time_t>(left / 1s), static_cast<long>((left % 1s).count())};
  const int ready =
      ::ppoll(polled.data(), polled.size(), until == kNever ? nullptr : &time, nullptr);
  if (ready <= 0) return true;
  if (polled[1].revents != 0) {
    eventfd_t rung = 0;
    ::eventfd_read(interrupted_.get(), &rung);
  }
  if (polled[0].revents == 0) return true;
  const Heard heard = hear();
  if (heard == Heard::well) return true;
  const NoAnswer why =
      insist([&] { return heard == Heard::nonsense ? not_understood() : broke(); });
  const auto open = insist([&] { return disconnect(why.text); });
  insist([&] { parts_.language.ended(); });
  for (const auto& asker : open) fail(*asker, why);
  return false;
}

// What lacks memory is lost, and with it the place where the next answer begins: no more is to be had from this
// stream.
SharedConnection::Heard SharedConnection::hear() {
  try {
    const Stream::Went how = stream_->read(input_);
    parts_.language.feed(input_);
    input_.clear();
    if (!hand_out()) return Heard::nonsense;
    return how == Stream::Went::wrong ? Heard::the_end : Heard::well;
  } catch (const std::bad_alloc&) {
    return Heard::the_end;
  }
}

// One that lacks memory does not take those behind it along.
void SharedConnection::fail(Asker& asker, const NoAnswer& why) {
  NoAnswer its_own = insist([&] { return why; });
  try {
    asker.failed(std::move(its_own));
  } catch (const std::bad_alloc&) {
  }
}

NoAnswer SharedConnection::broke() const {
  return {Errc::unavailable, true, "the connection to " + parts_.language.server() + " broke"};
}

NoAnswer SharedConnection::not_understood() const {
  return {Errc::protocol, true,
          "what came from " + parts_.language.server() + " is not the language of " +
              std::string(parts_.language.name())};
}

// While answers are handed out, a few at a time: whoever has got one is about to ask its next question. The
// reader lets them run and sends these questions at once, which is cheaper for us and for the server. Not all
// of a batch, or the server would have nothing to do meanwhile.
class SharedConnection::Gathering {
 public:
  explicit Gathering(SharedConnection& connection) : connection_(connection) {}
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;
  ~Gathering() { send(); }

  // Under mutex_. A single answer is followed by a single question at the most, and so are the answers to what
  // was asked together.
  void before_one(const Asker& asker) {
    if (!asker.more_follow_ && ++answers_ == 2) connection_.gathering_ = true;
  }
  void after_one() {
    if (answers_ == kAnswersAtOnce) send();
  }

 private:
  void send() {
    if (std::exchange(answers_, 0) < 2) return;
    ::sched_yield();
    std::unique_lock lock(connection_.mutex_);
    connection_.gathering_ = false;
    connection_.flush_unless_others_will(lock);
  }

  SharedConnection& connection_;
  int answers_ = 0;
};

// False: there is something that answers nothing.
bool SharedConnection::hand_out() {
  Gathering gathering(*this);
  Language::Next next = parts_.language.next();
  for (; next == Language::Next::answer; next = parts_.language.next()) {
    std::unique_ptr<Asker> asker;
    {
      const std::lock_guard lock(mutex_);
      if (open_.empty()) return false;
      asker = std::move(open_.front());
      open_.pop_front();
      gathering.before_one(*asker);
    }
    if (!answer(*asker)) return false;
    gathering.after_one();
  }
  return next != Language::Next::broken;
}

bool SharedConnection::answer(Asker& asker) {
  try {
    if (parts_.language.answer(asker)) return true;
  } catch (const std::bad_alloc&) {
    fail(asker, insist([this] { return broke(); }));
    throw;
  }
  fail(asker, insist([this] { return not_understood(); }));
  return false;
}

std::deque<std::unique_ptr<Asker>> SharedConnection::disconnect(const std::string& why) {
  const std::lock_guard lock(mutex_);
  connected_ = false;
  why_not_ = {Errc::unavailable, false, why};
  return std::exchange(open_, {});
}

// --- silence ---

// Under mutex_. One timer as long as the connection is used, none while it is idle.
void SharedConnection::watch_silence() {
  tasks_.call_at(later(parts_.clock.now(), kSilenceTick),
                 [this] { insist([this] { look_for_silence(); }); });
  silence_watched_ = true;  // not if there was no memory for it
}

void SharedConnection::look_for_silence() {
  const std::lock_guard lock(mutex_);
  silence_watched_ = connected_ && !open_.empty();
  if (!silence_watched_) return;
  if (parts_.clock.now() >= later(open_.front()->deadline(), kSilence)) stream_->hang_up();
  watch_silence();
}

// --- from one connection to the next ---

void SharedConnection::ended() {
  insist([this] { tasks_.post([this] { redial(); }); });
}

void SharedConnection::redial() {
  const int failures = lives_.end(parts_.clock.now());
  insist([&] {
    parts_.redialler.dial(
        {.done =
             tasks_.guarded([this](std::unique_ptr<Stream> stream) { replace(std::move(stream)); }),
         .failed = tasks_.guarded([this](const Error& error) {
           const bool locked_out = error == Errc::permission;  // which no patience will mend
           const std::lock_guard lock(mutex_);
           why_not_ = {locked_out ? Errc::permission : Errc::unavailable, false, error.text()};
         }),
         .failures = failures});
  });
}

void SharedConnection::replace(std::unique_ptr<Stream> stream) {
  try {
    use(std::move(stream));
  } catch (const std::bad_alloc&) {
    redial();
  }
}

// On the loop, but for the first one; nobody reads, and nobody asks before connected_. Throws std::bad_alloc only
// before that.
void SharedConnection::use(std::unique_ptr<Stream> stream) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (writing_) {  // still in the old stream, which is shut: it will not take long
      tasks_.post([this, kept = std::move(stream)]() mutable { replace(std::move(kept)); });
      return;
    }
    ++number_;
  }
  lives_.begin(parts_.clock.now());
  input_.clear();
  std::string first_words = parts_.language.begun(number_);
  {
    std::unique_lock lock(mutex_);
    if (closed_) return;
    out_ = std::move(first_words);
    half_sent_ = false;
    stream_ = std::move(stream);
    connected_ = true;
    flush(lock);
  }
  insist([this] { role_.open(); });
}

void SharedConnection::hang_up() {
  const std::lock_guard lock(mutex_);
  if (connected_) stream_->hang_up();
}

void SharedConnection::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  role_.shut();
  const NoAnswer why = insist([] {
    return NoAnswer{Errc::unavailable, true, "the client was closed"};
  });
  const auto open = insist([&] { return disconnect(why.text); });
  for (const auto& asker : open) fail(*asker, why);
  tasks_.end();
}

}  // namespace holdfast::transport
