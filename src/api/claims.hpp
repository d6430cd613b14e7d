#pragma once

#include <memory>
#include <string_view>

#include "api/client_handle.hpp"
#include "core/hold_cell.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/options.hpp"
#include "holdfast/pending.hpp"
#include "holdfast/store/keys.hpp"

// How every kind of lock is acquired.
namespace holdfast::detail {

struct Wanted {
  store::Kind kind = store::Kind::mutex;
  store::Shape shape{};
  core::HoldCellPtr instead_of{};  // up- and downgrades
};

Result<Hold> acquire(const ClientHandle&, std::string_view name, const Wanted&, AcquireOptions);
Pending<Hold> async_acquire(const ClientHandle&, std::string_view name, const Wanted&,
                            const AcquireOptions&);

}  // namespace holdfast::detail
