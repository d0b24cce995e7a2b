// SPDX-License-Identifier: MIT
// Programs that tests need, and that not every machine has.
//
//     TEST(TlsPeerTest, OpensslConnects) {
//       COROLANE_NEEDS(missing_program("openssl"));
//       ...
//
//   const auto reason = missing_program("openssl");
//
// Without the program the test is skipped. With CI=true in the environment it fails: nobody reads
// there that a test is skipped every time.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace corolane::test {

// Says that no folder of PATH has the program; empty when one has.
std::string missing_program(std::string_view program);

// Whether everything has to be there.
bool is_under_ci();

}  // namespace corolane::test

// Ends the test, or its SetUp(), when `obstacle` is not empty.
#define COROLANE_NEEDS(obstacle)                                                      \
  if (const std::string corolane_obstacle = (obstacle); corolane_obstacle.empty()) {  \
  } else if (::corolane::test::is_under_ci()) {                                       \
    GTEST_FAIL() << corolane_obstacle << ", and with CI=true nothing may be missing"; \
  } else                                                                              \
    GTEST_SKIP() << corolane_obstacle
