#pragma once

#include <string>

#include "core/hold_cell.hpp"
#include "core/ids.hpp"
#include "holdfast/error.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store/call.hpp"
#include "holdfast/store/keys.hpp"
#include "holdfast/store/requests.hpp"

// Everything that can happen to an engine.
namespace holdfast::core {

struct AcquireWanted {
  OpId op = 0;
  store::Kind kind = store::Kind::mutex;
  store::LockName name;
  store::Shape shape;
  Duration wait{};
  Duration lease{};
  bool renew = true;
  Duration max_hold = kForever;
  Order order = Order::any;
  std::string reason;
  std::uint64_t owner_tag = 0;  // Owner::id(), 0 for none
  WallTime since{};
  HoldCellPtr instead_of{};  // up- and downgrades: the hold that this one takes the place of
  bool has_thread = false;   // one that waits, and could do so without sleeping
};

// A caller stopped waiting: cancel(), a stop token, a dropped Pending, get_for().
struct GiveUpWanted {
  OpId op = 0;
  Errc why = Errc::cancelled;
};

struct ReleaseWanted {
  HoldCellPtr hold;
  OpId op = kNobody;
};

struct VerifyWanted {
  HoldCellPtr hold;
  OpId op = kNobody;
};

// The wall clock and BOOTTIME disagree about how much time went by: ask the store about every hold.
struct VerifyAllWanted {};

// No more claims; those that wait end as cancelled. Holds stay.
struct CloseWanted {};

struct Woken {
  ClaimNo claim = 0;
  store::Wake wake;
};

struct Tick {};

template <class Reply>
struct Answered {
  store::CallId call = 0;
  Reply reply;
};

}  // namespace holdfast::core
