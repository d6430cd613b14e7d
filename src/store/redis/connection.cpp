#include "store/redis/connection.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace holdfast::store::redis {
namespace {

using namespace std::chrono_literals;
using transport::Stream;

constexpr Duration kSilenceTick = 500ms;
constexpr Duration kSilence = 1s;      // after the deadline of the oldest question
constexpr Duration kFlushAgain = 1ms;  // a socket that takes nothing more
constexpr Duration kIdle = 2ms;        // longer than a caller needs from one question to its next
constexpr int kAnswersAtOnce = 4;
constexpr std::size_t kMostUnsent = 64 * 1024 * 1024;

}  // namespace

Connection::Connection(const Parts& parts, std::unique_ptr<Stream> stream)
    : parts_(parts),
      interrupted_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      tasks_(parts.loop),
      lives_(parts.clock.now()),
      stream_(std::move(stream)),
      role_(*this, parts.clock) {
  role_.open();
}

Connection::~Connection() { close(); }

// --- asking ---

void Connection::ask(std::span<const std::string> words, std::unique_ptr<Asker> asker) {
  std::unique_lock lock(mutex_);
  if (!connected_ || out_.size() > kMostUnsent) {
    NoAnswer no = why_not_;
    if (connected_) no = {Errc::unavailable, false, "the server takes nothing any more"};
    lock.unlock();
    asker->failed(std::move(no));
    return;
  }
  append_command(out_, words);
  if (loop_reads_ && !asker->waits()) watch(true);
  open_.push_back(std::move(asker));
  if (!silence_watched_) watch_silence();
  if (!gathering_) flush_unless_others_will(lock);
}

void Connection::flush_unless_others_will(std::unique_lock<std::mutex>& lock) {
  if (connected_ && !writing_ && !flush_waits_) flush(lock);
}

// Writes what there is, also what others leave here meanwhile.
void Connection::flush(std::unique_lock<std::mutex>& lock) {
  writing_ = true;
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
  writing_ = false;
  if (!connected_) return;
  if (how == Stream::Went::wrong) stream_->hang_up();  // the reader will see
  if (how == Stream::Went::again) flush_later();
}

// Rare: the socket's buffer takes a few thousand questions.
void Connection::flush_later() {
  flush_waits_ = true;
  tasks_.call_at(later(parts_.clock.now(), kFlushAgain), [this] {
    std::unique_lock lock(mutex_);
    flush_waits_ = false;
    flush_unless_others_will(lock);
  });
}

// --- reading ---

void Connection::interrupt() { ::eventfd_write(interrupted_.get(), 1); }

// Only while nobody replaces the stream: the role sees to that. Between the questions of one caller there is
// nothing to watch for, and two system calls to save.
void Connection::let_loop_watch(bool on) {
  const std::lock_guard lock(mutex_);
  loop_reads_ = on;
  used_ = true;
  if (!on || !open_.empty()) return watch(on);
  if (!std::exchange(watched_later_, true)) watch_if_idle();
}

// Under mutex_.
void Connection::watch(bool on) {
  if (std::exchange(watched_, on) != on) {
    parts_.loop.watch_fd(stream_->fd(), on ? POLLIN : 0, this);
  }
}

// Under mutex_. That the server hangs up on us is noticed then, too.
void Connection::watch_if_idle() {
  used_ = false;
  tasks_.call_at(later(parts_.clock.now(), kIdle), [this] {
    const std::lock_guard lock(mutex_);
    if (loop_reads_ && !watched_ && used_) return watch_if_idle();
    watched_later_ = false;
    if (loop_reads_) watch(true);
  });
}

bool Connection::read_once(TimePoint until) {
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
  const Stream::Went how = stream_->read(input_);
  reader_.feed(input_);
  input_.clear();
  const bool understood = hand_out();
  if (understood && how != Stream::Went::wrong) return true;
  fail_all(understood ? NoAnswer{Errc::unavailable, true,
                                 "the connection to " + to_string(parts_.address.server) + " broke"}
                      : NoAnswer{Errc::protocol, true,
                                 "what came from " + to_string(parts_.address.server) +
                                     " is not the language of Redis"});
  return false;
}

// While answers are handed out, a few at a time: whoever has got one is about to ask its next question. The
// reader lets them run and sends these questions at once, which is cheaper for us and for the server. Not all
// of a batch, or the server would have nothing to do meanwhile.
class Connection::Gathering {
 public:
  explicit Gathering(Connection& connection) : connection_(connection) {}
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;
  ~Gathering() { send(); }

  // Under mutex_. A single answer is followed by a single question at the most.
  void before_one() {
    if (++answers_ == 2) connection_.gathering_ = true;
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

  Connection& connection_;
  int answers_ = 0;
};

// False: there is something that answers nothing.
bool Connection::hand_out() {
  Gathering gathering(*this);
  while (auto reply = reader_.next()) {
    std::unique_ptr<Asker> asker;
    {
      const std::lock_guard lock(mutex_);
      if (open_.empty()) return false;
      asker = std::move(open_.front());
      open_.pop_front();
      gathering.before_one();
    }
    asker->answered(std::move(*reply));
    gathering.after_one();
  }
  return !reader_.broken();
}

void Connection::fail_all(NoAnswer why) {
  std::deque<std::unique_ptr<Asker>> open;
  {
    const std::lock_guard lock(mutex_);
    connected_ = false;
    why_not_ = {Errc::unavailable, false, why.text};
    open.swap(open_);
  }
  for (const auto& asker : open) asker->failed(why);
}

// --- silence ---

// Under mutex_. One timer as long as the connection is used, none while it is idle.
void Connection::watch_silence() {
  silence_watched_ = true;
  tasks_.call_at(later(parts_.clock.now(), kSilenceTick), [this] { look_for_silence(); });
}

void Connection::look_for_silence() {
  const std::lock_guard lock(mutex_);
  silence_watched_ = false;
  if (!connected_ || open_.empty()) return;
  if (parts_.clock.now() >= later(open_.front()->deadline(), kSilence)) stream_->hang_up();
  watch_silence();
}

// --- from one connection to the next ---

void Connection::ended() {
  tasks_.post([this] { redial(); });
}

void Connection::redial() {
  parts_.redialler.dial(
      {.done = tasks_.guarded([this](std::unique_ptr<Stream> stream) { use(std::move(stream)); }),
       .failed = tasks_.guarded([this](const Error& error) {
         const bool locked_out = error == Errc::permission;  // which no patience will mend
         const std::lock_guard lock(mutex_);
         why_not_ = {locked_out ? Errc::permission : Errc::unavailable, false, error.text()};
       }),
       .failures = lives_.end(parts_.clock.now())});
}

// On the loop; nobody reads.
void Connection::use(std::unique_ptr<Stream> stream) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (writing_) {  // still in the old stream, which is shut: it will not take long
      tasks_.post([this, kept = std::move(stream)]() mutable { use(std::move(kept)); });
      return;
    }
    reader_.reset();
    input_.clear();
    out_.clear();
    half_sent_ = false;
    stream_ = std::move(stream);
    connected_ = true;
  }
  lives_.begin(parts_.clock.now());
  role_.open();
}

void Connection::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  role_.shut();
  fail_all({Errc::unavailable, true, "the client was closed"});
  tasks_.end();
}

}  // namespace holdfast::store::redis
