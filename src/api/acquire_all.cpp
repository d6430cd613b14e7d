#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "api/client_handle.hpp"
#include "api/multi_hold_state.hpp"
#include "holdfast/multi_hold.hpp"
#include "holdfast/store/lock_name.hpp"

namespace holdfast {

namespace detail {

// One acquire_all on its way.
class AllOrNothing {
 public:
  AllOrNothing(std::span<const Mutex> mutexes, AcquireOptions options)
      : mutexes_(mutexes), options_(std::move(options)) {}

  Result<MultiHold> run();

 private:
  const ClientHandle& client(std::size_t place) const { return *mutexes_[place].client_; }
  auto rank(std::size_t place) const {
    return std::tuple(std::string_view(client(place).store_id()), mutexes_[place].name());
  }

  Result<void> sort();
  Result<void> take_all();
  Result<void> take(std::size_t place, const AcquireOptions&);
  Result<void> check() const;
  Error give_back(const Error& why);

  std::span<const Mutex> mutexes_;
  AcquireOptions options_;
  std::vector<std::size_t> order_;  // in which they are taken: places in mutexes_
  TimePoint deadline_ = kNever;
  std::unique_ptr<MultiHoldState> taken_ = std::make_unique<MultiHoldState>();
};

namespace {

// Not every error knows which lock it is about.
Error about(std::string_view lock, const Error& error) {
  if (!error.detail().lock.empty()) return error;
  Error::Detail detail = error.detail();
  detail.lock = lock;
  return Error(std::move(detail));
}

Error given_twice(std::string_view lock) {
  Error::Detail detail;
  detail.code = Errc::invalid_argument;
  detail.lock = lock;
  detail.text = "invalid_argument: \"" + store::printable(lock) +
                "\" is given twice; it would wait for itself";
  return Error(std::move(detail));
}

}  // namespace

Result<MultiHold> AllOrNothing::run() {
  if (mutexes_.empty()) {
    return Error(Errc::invalid_argument, "invalid_argument: there is no lock to acquire");
  }
  if (const auto sorted = sort(); !sorted) return sorted.error();
  if (const auto all = take_all(); !all) return give_back(all.error());
  taken_->arrange();
  return MultiHold(std::move(taken_));
}

Result<void> AllOrNothing::sort() {
  order_.resize(mutexes_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::sort(order_.begin(), order_.end(),
            [this](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  const auto twice =
      std::adjacent_find(order_.begin(), order_.end(),
                         [this](std::size_t a, std::size_t b) { return rank(a) == rank(b); });
  return twice == order_.end() ? Result<void>() : given_twice(mutexes_[*twice].name());
}

Result<void> AllOrNothing::take_all() {
  // Whoever has lost one lock need not wait for the next.
  std::stop_source give_up;
  const PassedOn asked(options_.stop, PassOn{give_up});
  const PassedOn lost(taken_->lost(), PassOn{give_up});
  AcquireOptions options = options_;
  options.stop = give_up.get_token();
  for (const std::size_t place : order_) {
    if (auto had = take(place, options); !had) {
      // Given up because of a loss, the loss is the reason.
      if (had.error() != Errc::cancelled || options_.stop.stop_requested()) return had;
      auto kept = check();
      return kept ? had : kept;
    }
  }
  return check();
}

Result<void> AllOrNothing::take(std::size_t place, const AcquireOptions& options) {
  AcquireOptions mine = options;
  if (options.wait > Duration::zero() && !client(place).forked()) {
    const TimePoint now = client(place).driver()->now();
    if (taken_->holds().empty()) deadline_ = later(now, options.wait);
    // After the deadline it is a wait that was too short, not a single attempt.
    mine.wait = std::max(left_until(deadline_, now), Duration(1));
  }
  Result<Hold> hold = mutexes_[place].acquire(std::move(mine));
  if (!hold) return about(mutexes_[place].name(), hold.error());
  taken_->add(place, std::move(*hold));
  return {};
}

// Whether all that was taken is still ours.
Result<void> AllOrNothing::check() const {
  const Hold* gone = taken_->first_lost();
  return gone == nullptr ? Result<void>() : gone->verify();  // it tells why, and asks nobody
}

Error AllOrNothing::give_back(const Error& why) {
  for (const Error& error : taken_->release()) {
    if (error.code() != Outcome::maybe_held) continue;
    Error::Detail detail = why.detail();
    detail.code = error.errc();
    detail.text = error.text() + "; it was to be given back because of " + why.text();
    return Error(std::move(detail));
  }
  return why;
}

}  // namespace detail

Result<MultiHold> acquire_all(std::span<const Mutex> mutexes, AcquireOptions options) {
  return detail::AllOrNothing(mutexes, std::move(options)).run();
}

}  // namespace holdfast
