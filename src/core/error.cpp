#include "holdfast/error.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

namespace holdfast {
namespace {

struct Row {
  Errc code;
  std::string_view name;
  Outcome outcome;
  std::string_view text;  // what Error says if nobody gave it a better text
};

// Everything that is known about a code. An outcome here is a promise to the caller, so a code is
// not_held only if nothing can have stayed behind. That is why `protocol` and `store_corrupt` are
// not: an answer that we cannot read, or cannot believe, may have been a grant.
constexpr std::array kRows{
    Row{Errc::busy, "busy", Outcome::not_held, "somebody else holds the lock"},
    Row{Errc::timed_out, "timed_out", Outcome::not_held, "the lock was not granted in time"},
    Row{Errc::cancelled, "cancelled", Outcome::not_held, "given up on request"},
    Row{Errc::lost, "lost", Outcome::not_held, "the lock was no longer ours"},
    Row{Errc::unknown, "unknown", Outcome::maybe_held,
        "no answer came, so it may or may not have happened"},
    Row{Errc::unavailable, "unavailable", Outcome::not_held, "the store could not be asked"},
    Row{Errc::no_quorum, "no_quorum", Outcome::not_held, "too few of the stores agreed"},
    Row{Errc::not_owner, "not_owner", Outcome::misuse, "only its holder can release a lock, once"},
    Row{Errc::forked, "forked", Outcome::misuse,
        "used in a child process; connect again after fork"},
    Row{Errc::forced, "forced", Outcome::not_held, "an operator took the lock away"},
    Row{Errc::unsupported, "unsupported", Outcome::misuse, "this store cannot do that"},
    Row{Errc::would_deadlock, "would_deadlock", Outcome::misuse,
        "the same owner holds the lock already and would wait for itself"},
    Row{Errc::size_mismatch, "size_mismatch", Outcome::misuse,
        "the semaphore exists with another number of permits"},
    Row{Errc::store_full, "store_full", Outcome::not_held, "the store has no room"},
    Row{Errc::store_corrupt, "store_corrupt", Outcome::maybe_held,
        "the data of the store cannot be trusted"},
    Row{Errc::permission, "permission", Outcome::not_held, "the store does not let us in"},
    Row{Errc::protocol, "protocol", Outcome::maybe_held,
        "the store answered something that we do not understand"},
    Row{Errc::invalid_argument, "invalid_argument", Outcome::misuse,
        "an option or URL makes no sense"},
    Row{Errc::invalid_name, "invalid_name", Outcome::misuse, "lock names are 1 to 512 bytes"},
    Row{Errc::invalid_lease, "invalid_lease", Outcome::misuse, "leases are 100 ms to 24 h"},
    Row{Errc::out_of_memory, "out_of_memory", Outcome::not_held, "out of memory"},
};

constexpr bool rows_stand_at_their_codes() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].code) != i + 1) return false;
  }
  return true;
}
static_assert(rows_stand_at_their_codes());

// Null for a number that is no Errc of ours.
constexpr const Row* row_of(int value) noexcept {
  if (value < 1 || static_cast<std::size_t>(value) > kRows.size()) return nullptr;
  return &kRows[static_cast<std::size_t>(value) - 1];
}

std::string_view text_of(Errc code) noexcept {
  const Row* row = row_of(static_cast<int>(code));
  return row ? row->text : "an error that this version does not know";
}

class ErrorCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast"; }
  std::string message(int value) const override {
    return std::string(text_of(static_cast<Errc>(value)));
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    const Row* row = row_of(value);
    return row ? make_error_condition(row->outcome) : std::error_condition(value, *this);
  }
};

class OutcomeCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.outcome"; }
  std::string message(int value) const override {
    switch (static_cast<Outcome>(value)) {
      case Outcome::not_held:
        return "not held";
      case Outcome::maybe_held:
        return "maybe held";
      case Outcome::misuse:
        return "misuse";
    }
    return "an outcome that this version does not know";
  }
};

// A T that is made at first use and never destroyed: errors outlive main().
template <class T>
class Immortal {
 public:
  template <class... Args>
  explicit Immortal(Args&&... args) {
    ::new (static_cast<void*>(bytes_)) T(std::forward<Args>(args)...);
  }
  const T& get() const noexcept { return *std::launder(reinterpret_cast<const T*>(bytes_)); }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
};

}  // namespace

const std::error_category& error_category() noexcept {
  static Immortal<ErrorCategory> category;
  return category.get();
}

const std::error_category& outcome_category() noexcept {
  static Immortal<OutcomeCategory> category;
  return category.get();
}

std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

std::error_condition make_error_condition(Outcome outcome) noexcept {
  return {static_cast<int>(outcome), outcome_category()};
}

std::string_view name_of(Errc code) noexcept {
  const Row* row = row_of(static_cast<int>(code));
  return row ? row->name : "unlisted";
}

struct Error::Shared {
  explicit Shared(Detail d) : detail(std::move(d)) {}

  static const Shared* make(Detail detail) {
    if (detail.text.empty()) detail.text = text_of(detail.code);
    return new Shared(std::move(detail));
  }

  // Two errors that must not need memory. Their texts fit into a string without allocating, and
  // their first reference is never dropped.
  static const Shared* out_of_memory() noexcept {
    static Immortal<Shared> error(short_detail(Errc::out_of_memory, "out of memory"));
    return error.get().copy();
  }
  static const Shared* moved_from() noexcept {
    static Immortal<Shared> error(short_detail(Errc::unknown, "moved from"));
    return error.get().copy();
  }

  const Shared* copy() const noexcept {
    references.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  void drop() const noexcept {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const Detail detail;
  mutable std::atomic<std::uint64_t> references{1};

 private:
  static Detail short_detail(Errc code, const char* text) noexcept {
    Detail detail;
    detail.code = code;
    detail.text = text;
    return detail;
  }
};

Error::Error(Errc code)
    : shared_(code == Errc::out_of_memory ? Shared::out_of_memory()
                                          : Error(code, std::string()).shared_->copy()) {}

Error::Error(Errc code, std::string text) : shared_(nullptr) {
  Detail detail;
  detail.code = code;
  detail.text = std::move(text);
  shared_ = Shared::make(std::move(detail));
}

Error::Error(Detail detail) : shared_(Shared::make(std::move(detail))) {}

Error::Error(const Error& other) noexcept : shared_(other.shared_->copy()) {}

Error::Error(Error&& other) noexcept
    : shared_(std::exchange(other.shared_, Shared::moved_from())) {}

Error& Error::operator=(const Error& other) noexcept {
  Error copy(other);
  std::swap(shared_, copy.shared_);
  return *this;
}

Error& Error::operator=(Error&& other) noexcept {
  std::swap(shared_, other.shared_);
  return *this;
}

Error::~Error() { shared_->drop(); }

Errc Error::errc() const noexcept { return shared_->detail.code; }
const std::string& Error::text() const noexcept { return shared_->detail.text; }
const Error::Detail& Error::detail() const noexcept { return shared_->detail; }

static_assert(sizeof(Error) == sizeof(void*));

}  // namespace holdfast
