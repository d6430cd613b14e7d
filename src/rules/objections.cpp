#include "rules/objections.hpp"

#include <string>

#include "holdfast/options.hpp"

namespace holdfast::rules {

using namespace store;
using Form = Shape::Form;

namespace {

Rejected rejected(Errc why, const char* text) { return {why, text}; }

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::mutex:
      return "a mutex";
    case Kind::shared_mutex:
      return "a shared mutex";
    case Kind::semaphore:
      return "a semaphore";
  }
  return "something else";
}

bool may_become(const Shape& from, const Shape& to) {
  if (from.form == Form::exclusive) return to.form != Form::permits;
  return from.form == Form::upgradeable && (to.form == Form::exclusive || to.form == Form::shared);
}

}  // namespace

std::optional<Rejected> objection(const GrantRequest& ask) {
  if (ask.name.bytes().empty()) return rejected(Errc::invalid_name, "a lock needs a name");
  const bool permits = ask.shape.form == Form::permits;
  switch (ask.kind) {
    case Kind::mutex:
      if (ask.shape != Shape::exclusive() || ask.instead_of) {
        return rejected(Errc::unsupported, "a mutex is exclusive, and nothing else");
      }
      return std::nullopt;
    case Kind::shared_mutex:
      if (permits) return rejected(Errc::invalid_argument, "a shared mutex has no permits");
      if (ask.instead_of && !may_become(ask.instead_of->shape, ask.shape)) {
        return rejected(Errc::would_deadlock,
                        "a reader cannot become a writer: two of them would wait for each other");
      }
      return std::nullopt;
    case Kind::semaphore:
      if (!permits || ask.instead_of) {
        return rejected(Errc::invalid_argument, "a semaphore has permits, and nothing else");
      }
      if (ask.shape.take == 0) return rejected(Errc::invalid_argument, "no permits were asked for");
      if (ask.shape.of > kMaxPermits) {
        return rejected(Errc::invalid_argument, "that are more permits than a semaphore can have");
      }
      return std::nullopt;
  }
  return rejected(Errc::unsupported, "an unknown kind of lock");
}

Rejected in_use_as(Kind kind) {
  return {Errc::invalid_argument, std::string("that name is in use as ") + name_of(kind) +
                                      "; take it in the same way, or choose another name"};
}

Rejected other_size(std::uint32_t there_are, const Shape& asked) {
  return {Errc::size_mismatch, "the semaphore is in use with " + std::to_string(there_are) +
                                   " permits, not " + std::to_string(asked.of)};
}

Rejected never_so_many(std::uint32_t there_are, const Shape& asked) {
  return {Errc::size_mismatch, std::to_string(asked.take) + " of " + std::to_string(there_are) +
                                   " permits can never be had"};
}

Rejected old_hold_is_gone() {
  return rejected(Errc::lost, "the hold to be exchanged is not there any more");
}

Rejected old_hold_is_revoked() { return rejected(Errc::forced, "an operator took the lock away"); }

Rejected fences_ran_out() {
  return rejected(Errc::store_full, "the store has used up its fences; start a new one");
}

}  // namespace holdfast::rules
