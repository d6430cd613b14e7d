#include "holdfast/client.hpp"

#include <algorithm>

#include "api/client_handle.hpp"
#include "api/errors.hpp"
#include "runtime/endings.hpp"
#include "runtime/fork_word.hpp"
#include "runtime/store_question.hpp"

namespace holdfast {

namespace detail {

ClientHandle::~ClientHandle() {
  if (forked()) return;
  const void* const callbacks = driver_->callbacks_id();
  driver_->close();
  driver_.reset();  // which has waited, if it was the last one
  runtime::Endings::closed(callbacks);
}

bool ClientHandle::forked() const { return !runtime::ForkWord::is_current(generation_); }

Client ClientHandle::make_client(std::shared_ptr<runtime::Driver> driver, std::string store_id) {
  return Client(std::make_shared<ClientHandle>(std::move(driver), runtime::ForkWord::enter(),
                                               std::move(store_id)));
}

}  // namespace detail

namespace {

using store::NoAnswer;

Error failure(Errc code, const std::string& text) {
  return Error(code, std::string(name_of(code)) + ": " + text);
}

Error failure(const NoAnswer& none) {
  return failure(none.why,
                 "the store did not answer" +
                     (none.text.empty() ? std::string() : ": " + store::printable(none.text)));
}

Error failure(const store::Rejected& no) { return failure(no.why, store::printable(no.text)); }

std::string text_of(const store::Shape& shape, std::uint32_t taken) {
  switch (shape.form) {
    case store::Shape::Form::exclusive:
      return "exclusive";
    case store::Shape::Form::shared:
      return "shared";
    case store::Shape::Form::upgradeable:
      return "upgradeable";
    case store::Shape::Form::permits:
      return std::to_string(taken) + " of " + std::to_string(shape.of);
  }
  return {};
}

std::string text_of(store::Kind kind) {
  switch (kind) {
    case store::Kind::mutex:
      return "mutex";
    case store::Kind::shared_mutex:
      return "shared_mutex";
    case store::Kind::semaphore:
      return "semaphore";
  }
  return {};
}

// The strictest of its holds; one that nobody holds shows what the first in line wants.
std::string mode_of(const store::LockView& seen) {
  if (seen.holds.empty()) return seen.line.empty() ? "" : text_of(seen.line.front().shape, 0);
  std::uint32_t taken = 0;
  const store::ClaimView* strictest = &seen.holds.front();
  const auto rank = [](const store::ClaimView& hold) {
    return hold.shape.form == store::Shape::Form::shared ? 0 : 1;
  };
  for (const auto& hold : seen.holds) {
    taken += hold.shape.take;
    if (rank(hold) > rank(*strictest)) strictest = &hold;
  }
  return text_of(strictest->shape, taken);
}

ClaimInfo info(const store::ClaimView& seen) {
  return {.record = seen.record,
          .mode = text_of(seen.shape, seen.shape.take),
          .fence = FencingToken(seen.fence),
          .lease_left = seen.lease_left,
          .offered = seen.offered,
          .revoked = seen.revoked};
}

LockInfo info(const store::LockView& seen) {
  LockInfo lock{.name = seen.name.bytes(),
                .kind = text_of(seen.kind),
                .mode = mode_of(seen),
                .holders = {},
                .line = {}};
  for (const auto& hold : seen.holds) lock.holders.push_back(info(hold));
  for (const auto& claim : seen.line) lock.line.push_back(info(claim));
  return lock;
}

}  // namespace

Mutex Client::mutex(std::string_view name) const { return Mutex(handle_, std::string(name)); }

SharedMutex Client::shared_mutex(std::string_view name) const {
  return SharedMutex(handle_, std::string(name));
}

Semaphore Client::semaphore(std::string_view name, SemaphoreOptions options) const {
  return Semaphore(handle_, std::string(name), options);
}

ReentrantMutex Client::reentrant_mutex(std::string_view name, AcquireOptions options) const {
  return ReentrantMutex(mutex(name), handle_->reentrant(), std::move(options));
}

Latch Client::latch(std::string_view name) const { return Latch(handle_, std::string(name)); }

Versioned Client::versioned(std::string_view name) const {
  return Versioned(handle_, std::string(name));
}

Result<std::vector<LockInfo>> Client::inspect(std::string_view pattern) const {
  if (handle_->forked()) return detail::forked_error();
  const auto reply = runtime::StoreQuestion<store::InspectReply>::ask(
      *handle_->driver(),
      [&](store::Store& store, auto call) { store.inspect(pattern, std::move(call)); });
  if (const auto* none = std::get_if<NoAnswer>(&reply)) return failure(*none);
  if (const auto* no = std::get_if<store::Rejected>(&reply)) return failure(*no);
  std::vector<LockInfo> locks;
  for (const auto& seen : std::get<std::vector<store::LockView>>(reply)) {
    locks.push_back(info(seen));
  }
  return locks;
}

Result<void> Client::force_release(std::string_view name, ForceOptions options) const {
  if (handle_->forked()) return detail::forked_error();
  auto lock = store::LockName::checked(name);
  if (!lock) return lock.error();
  if (options.reason.size() > kMaxReason) {
    return detail::error_about(Errc::invalid_argument, *lock, "a reason is at most 1024 bytes");
  }
  store::ForceRequest request;
  request.name = *lock;
  request.fence = options.fence.value();
  request.now = options.now;
  request.reason = std::move(options.reason);
  const auto reply = runtime::StoreQuestion<store::ForceReply>::ask(
      *handle_->driver(),
      [&](store::Store& store, auto call) { store.force_release(request, std::move(call)); });
  if (const auto* none = std::get_if<NoAnswer>(&reply)) return failure(*none);
  if (const auto* no = std::get_if<store::Rejected>(&reply)) return failure(*no);
  if (std::holds_alternative<store::Forced>(reply)) return {};
  Error::Detail detail;
  detail.code = Errc::not_owner;
  detail.lock = lock->bytes();
  detail.text = "not_owner: \"" + store::printable(name) + "\" is not held with fence " +
                std::to_string(request.fence) + " (any more); nothing was changed. Look again";
  return Error(std::move(detail));
}

Result<std::vector<Finding>> Client::examine() const {
  if (handle_->forked()) return detail::forked_error();
  auto reply = runtime::StoreQuestion<store::ExamineReply>::ask(
      *handle_->driver(), [](store::Store& store, auto call) { store.examine(std::move(call)); });
  if (const auto* none = std::get_if<NoAnswer>(&reply)) return failure(*none);
  auto findings = std::get<std::vector<Finding>>(std::move(reply));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
  return findings;
}

Result<std::string> Client::place_of(std::string_view name) const {
  if (handle_->forked()) return detail::forked_error();
  auto lock = store::LockName::checked(name);
  if (!lock) return lock.error();
  return handle_->driver()->store().place_of(store::Kind::mutex, *lock);
}

int Client::lifeline() const {
  return handle_->forked() ? -1 : handle_->driver()->store().lifeline();
}

}  // namespace holdfast
