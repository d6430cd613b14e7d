// One client that holds thousands of locks.
#include "sqlite_test.hpp"
#include "support/many_holds.hpp"

namespace holdfast::test {
namespace {

using SqliteCrowd = SqliteTest;

TEST_F(SqliteCrowd, TenThousandHoldsAreRenewedInTime_F042) {
  expect_renewed_in_time(url(), kSanitized ? 500 : 10'000);
}

}  // namespace
}  // namespace holdfast::test
