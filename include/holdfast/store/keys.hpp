#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "holdfast/store/lock_name.hpp"

namespace holdfast::store {

// The kinds of lock a store keeps. A name belongs to one kind at a time.
enum class Kind : std::uint8_t { mutex, shared_mutex, semaphore };

// How much of the lock a claim wants.
struct Shape {
  enum class Form : std::uint8_t { exclusive, shared, upgradeable, permits };

  Form form = Form::exclusive;
  std::uint32_t take = 1;  // permits only: how many
  std::uint32_t of = 1;    // permits only: of how many

  // Whether two claims of these shapes can be held at the same time, as far as one does not need the
  // permits that the other has taken.
  constexpr bool goes_with(const Shape& other) const {
    if (form == Form::exclusive || other.form == Form::exclusive) return false;
    return form != Form::upgradeable || other.form != Form::upgradeable;
  }

  static constexpr Shape exclusive() { return {}; }
  static constexpr Shape shared() { return {.form = Form::shared}; }
  static constexpr Shape upgradeable() { return {.form = Form::upgradeable}; }
  static constexpr Shape permits(std::uint32_t take, std::uint32_t of) {
    return {.form = Form::permits, .take = take, .of = of};
  }

  friend constexpr auto operator<=>(const Shape&, const Shape&) = default;
};

// 128 random bits that name a client for as long as it lives.
struct ClientId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend constexpr auto operator<=>(const ClientId&, const ClientId&) = default;
};

// Who asks: a client and the number of its claim. Never used for a second claim.
struct OwnerId {
  ClientId client;
  std::uint64_t claim = 0;
  friend constexpr auto operator<=>(const OwnerId&, const OwnerId&) = default;
};

// 32 hex digits, a colon, the claim number: "9f0c…:17".
std::string to_string(const ClientId&);
std::string to_string(const OwnerId&);

// One claim in a store.
struct ClaimKey {
  Kind kind = Kind::mutex;
  LockName name;
  Shape shape;
  OwnerId owner;
  friend auto operator<=>(const ClaimKey&, const ClaimKey&) = default;
};

// One grant in a store: what every later write is compared with. The fence is the one the store
// gave, never one of its spares.
struct HoldKey : ClaimKey {
  std::uint64_t fence = 0;
  friend auto operator<=>(const HoldKey&, const HoldKey&) = default;
};

}  // namespace holdfast::store
