#include "api/cell_desk.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/errors.hpp"
#include "core/pace.hpp"
#include "runtime/store_question.hpp"

namespace holdfast::detail {

using namespace store;

namespace {

CellReply ask_once(runtime::Driver& driver, const auto& verb) {
  return runtime::StoreQuestion<CellReply>::ask(driver, [&](Store& store, Call<CellReply> call) {
    if (Cells* cells = store.cells()) return verb(*cells, std::move(call));
    call.answer(Rejected{Errc::unsupported, "this store keeps no values beside its locks"});
  });
}

// What asking again may cure.
bool passes(const NoAnswer& none) { return none.why == Errc::unavailable; }

Error failure(const CellKey& key, const NoAnswer& none) {
  return error_about(none.why, key.name,
                     "the store did not answer" +
                         (none.text.empty() ? std::string() : ": " + printable(none.text)));
}

Error failure(const CellKey& key, const Rejected& no) {
  return error_about(no.why, key.name, printable(no.text));
}

Result<CellState> state_in(const CellKey& key, CellReply reply) {
  if (const auto* none = std::get_if<NoAnswer>(&reply)) return failure(key, *none);
  if (const auto* no = std::get_if<Rejected>(&reply)) return failure(key, *no);
  if (auto* state = std::get_if<CellState>(&reply)) return std::move(*state);
  return error_about(Errc::protocol, key.name, "the store answered a look with a conflict");
}

}  // namespace

std::optional<std::int64_t> number_in(const store::CellState& state) {
  std::int64_t number = 0;
  const char* const end = state.value.data() + state.value.size();
  const auto [stop, error] = std::from_chars(state.value.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// ---- asking until there is an answer ----

// An answer, or the last of the missing ones; its `executed` speaks for all attempts.
template <class Verb>
CellReply CellDesk::repeat(TimePoint until, Verb verb) {
  bool executed = false;
  for (std::uint32_t failures = 0;; ++failures) {
    CellReply reply = ask_once(driver_, verb);
    auto* const none = std::get_if<NoAnswer>(&reply);
    if (none == nullptr) return reply;
    executed = none->executed = executed || none->executed;
    const TimePoint next = later(driver_.now(), core::backoff(failures, driver_.random()));
    if (!passes(*none) || next >= until) return reply;
    sleep(driver_, std::make_shared<Nap>(), next);
    // A process that was stopped meanwhile must not repeat what the store may have forgotten.
    if (driver_.now() >= until) return reply;
  }
}

Result<CellState> CellDesk::look(const CellKey& key) {
  return state_in(key, ask_once(driver_, [&](Cells& cells, Call<CellReply> call) {
                    cells.read(key, std::move(call));
                  }));
}

Result<CellState> CellDesk::read(const CellKey& key) {
  const TimePoint until = later(driver_.now(), driver_.patience());
  return state_in(key, repeat(until, [&](Cells& cells, Call<CellReply> call) {
                    cells.read(key, std::move(call));
                  }));
}

class CellDesk::Turn {
 public:
  Turn(CellDesk& desk, const CellKey& key) : desk_(desk), key_(key) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { desk_.pass_turn(key_); }

 private:
  CellDesk& desk_;
  const CellKey& key_;
};

template <class Ask, class Verb>
Result<CellDesk::Outcome> CellDesk::operate(Ask ask, Verb verb) {
  // Long before the store may forget that it was done.
  const Duration patience = std::min<Duration>(driver_.patience(), kCellOpsKept / 4);
  const TimePoint until = later(driver_.now(), patience);
  if (!take_turn(ask.key, until)) {
    return error_about(Errc::unavailable, ask.key.name,
                       "the store has not answered an earlier operation of this client");
  }
  const Turn turn(*this, ask.key);
  {
    const std::lock_guard lock(mutex_);
    ask.op = {driver_.client(), ++last_number_};  // with the turn in hand, so that they grow
  }
  CellReply reply =
      repeat(until, [&](Cells& cells, Call<CellReply> call) { verb(cells, ask, std::move(call)); });
  if (auto* state = std::get_if<CellState>(&reply)) return Outcome{true, std::move(*state)};
  if (auto* conflict = std::get_if<Conflict>(&reply)) {
    return Outcome{false, std::move(conflict->now)};
  }
  if (const auto* no = std::get_if<Rejected>(&reply)) return failure(ask.key, *no);
  NoAnswer none = std::get<NoAnswer>(std::move(reply));
  if (none.executed) {
    none.text = "it may have been done or not" + (none.text.empty() ? "" : "; " + none.text);
    none.why = Errc::unknown;
  }
  return failure(ask.key, none);
}

Result<CellDesk::Outcome> CellDesk::write(CellWrite ask) {
  return operate(std::move(ask), [](Cells& cells, const CellWrite& it, Call<CellReply> call) {
    cells.write(it, std::move(call));
  });
}

Result<CellDesk::Outcome> CellDesk::add(CellAdd ask) {
  return operate(std::move(ask), [](Cells& cells, const CellAdd& it, Call<CellReply> call) {
    cells.add(it, std::move(call));
  });
}

// The driver is not kept for a late hint: its end would then be up to a thread of the store's.
WatchPtr CellDesk::watch(const CellKey& key, const std::shared_ptr<Bell>& bell) {
  Cells* const cells = driver_.store().cells();
  return cells == nullptr ? nullptr : cells->watch(key, [bell] { bell->ring(); });
}

// ---- turns ----

bool CellDesk::take_turn(const CellKey& key, TimePoint until) {
  const auto place = std::make_shared<Place>();
  {
    const std::lock_guard lock(mutex_);
    const auto [line, free] = lines_.try_emplace(key);
    if (free) return true;
    line->second.push_back(place);
  }
  sleep(driver_, place->nap, until);
  const std::lock_guard lock(mutex_);
  if (!place->served) std::erase(lines_.at(key), place);
  return place->served;
}

void CellDesk::pass_turn(const CellKey& key) {
  std::shared_ptr<Place> next;
  {
    const std::lock_guard lock(mutex_);
    const auto line = lines_.find(key);
    if (line->second.empty()) {
      lines_.erase(line);
      return;
    }
    next = std::move(line->second.front());
    line->second.pop_front();
    next->served = true;
  }
  wake(driver_, *next->nap);
}

}  // namespace holdfast::detail
