// What a store tells of holders, in the library's texts and errors.
#include <optional>
#include <string>

#include "core/explain.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/target.hpp"
#include "holdfast/holder_record.hpp"

namespace holdfast::fuzz {
namespace {

const Target kHolderRecord("holder_record", [](std::string_view bytes) {
  Input input(bytes);
  const HolderRecord record = record_from(input);
  const std::string described = describe(record);
  require_safe(described);
  require(!described.empty(), "somebody is described");

  store::Refused refused;
  refused.holder = record;
  refused.lease_left = Duration(input.number());
  refused.ahead = static_cast<std::uint32_t>(input.number());
  const auto name = store::LockName::checked(input.text());
  if (!name) return;
  for (const Errc why : {Errc::busy, Errc::timed_out, Errc::unavailable}) {
    const Error error = core::explain(why, *name, Duration(input.number()), refused, "");
    require_safe(error.text());
    require(error.detail().lock == name->bytes(), "an error names the lock");
  }
});

}  // namespace
}  // namespace holdfast::fuzz
