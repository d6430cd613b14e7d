#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "store/redis/resp.hpp"

namespace holdfast::store::redis {

// Takes the items of an array one by one. Whatever is not what was expected makes it !ok(), and then every
// further item is empty: so a whole reply is read without a test for each item.
class ReplyItems {
 public:
  explicit ReplyItems(const Reply& array) : reply_(array), ok_(array.is(Reply::Type::array)) {}

  bool ok() const { return ok_; }
  bool ok_and_done() const { return ok_ && at_ == reply_.items.size(); }
  bool more() const { return ok_ && at_ < reply_.items.size(); }

  std::string text() {
    const Reply* item = next(Reply::Type::text);
    return item != nullptr ? item->text : std::string();
  }

  // A number that fits, and is at most `greatest`.
  template <class Number>
  Number number(Number greatest = std::numeric_limits<Number>::max()) {
    static_assert(std::is_unsigned_v<Number>);
    const Reply* item = next(Reply::Type::integer);
    if (item == nullptr) return 0;
    if (item->integer < 0 || static_cast<std::uint64_t>(item->integer) > greatest) {
      ok_ = false;
      return 0;
    }
    return static_cast<Number>(item->integer);
  }

  bool flag() { return number<std::uint8_t>(1) == 1; }

  ReplyItems array() {
    const Reply* item = next(Reply::Type::array);
    return ReplyItems(item != nullptr ? *item : kNothing);
  }

  void fail() { ok_ = false; }

 private:
  static inline const Reply kNothing{};

  const Reply* next(Reply::Type type) {
    if (!more() || !reply_.items[at_].is(type)) {
      ok_ = false;
      return nullptr;
    }
    return &reply_.items[at_++];
  }

  const Reply& reply_;
  std::size_t at_ = 0;
  bool ok_;
};

}  // namespace holdfast::store::redis
