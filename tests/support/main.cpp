#include <gtest/gtest.h>

#include "support/child_process.hpp"

// Of every test program that links this library and has no main() of its own.
int main(int argc, char** argv) {
  if (const auto code = holdfast::test::run_role(argc, argv)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
