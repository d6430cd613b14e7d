#include "store/memory/memory_cells.hpp"

#include <utility>

namespace holdfast::store {

// --- the server ---

CellReply CellServer::read(const CellKey& key) {
  const std::lock_guard lock(mutex_);
  return table_.read(key);
}

template <class Verb>
CellReply CellServer::change(const CellKey& key, Verb verb) {
  CellReply reply;
  std::uint64_t version = 0;
  {
    const std::lock_guard lock(mutex_);
    reply = verb();
    version = table_.version_of(key);
  }
  for (const auto& changed : watches_.seen(key, version)) (*changed)();
  return reply;
}

// The clock is read inside, so that the table never sees time go back.
CellReply CellServer::write(const CellWrite& ask, const Clock& clock) {
  return change(ask.key, [&] { return table_.write(ask, clock.now()); });
}

CellReply CellServer::add(const CellAdd& ask, const Clock& clock) {
  return change(ask.key, [&] { return table_.add(ask, clock.now()); });
}

std::optional<std::uint32_t> CellServer::size_of(const LockName& semaphore) {
  const CellReply reply = read({CellKind::size, semaphore});
  const auto* state = std::get_if<CellState>(&reply);
  return state != nullptr ? rules::size_in(*state) : std::nullopt;
}

// --- a client's cells ---

// The answer comes last: once the last Call is answered the store may be destroyed.
template <class Verb>
void MemoryCells::ask(Call<CellReply> call, Verb verb) {
  if (closed_) {
    call.answer(NoAnswer{.executed = false, .text = "the store is closed"});
    return;
  }
  call.answer(verb());
}

void MemoryCells::read(const CellKey& key, Call<CellReply> call) {
  ask(std::move(call), [&] { return server_.read(key); });
}

template <class Verb>
void MemoryCells::change(const CellKey& key, Call<CellReply> call, Verb verb) {
  ask(std::move(call), [&] {
    CellReply reply = verb();
    if (key.kind == CellKind::size) resized_(key.name);
    return reply;
  });
}

void MemoryCells::write(const CellWrite& request, Call<CellReply> call) {
  change(request.key, std::move(call), [&] { return server_.write(request, clock_); });
}

void MemoryCells::add(const CellAdd& request, Call<CellReply> call) {
  change(request.key, std::move(call), [&] { return server_.add(request, clock_); });
}

}  // namespace holdfast::store
