// SPDX-License-Identifier: MIT
// Clients receive their commands as lines.
#include "tools/benchmarks/network/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "coroutine/testing/matchers.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;

TEST(ProgramTest, EachRunIsOneLineInAndOneLineOut) {
  const auto client = forked_client([](std::uint16_t port) {
    for (std::string line; std::getline(std::cin, line);) {
      std::printf("%s %u 30 40\n", line.c_str(), static_cast<unsigned>(port));
      std::fflush(stdout);
    }
    return EXIT_SUCCESS;
  })(1'234);
  ASSERT_TRUE(client) << client;
  for (const auto time : {5ms, 6ms}) {
    const auto outcome = (*client)->run(time);
    ASSERT_TRUE(outcome) << outcome;
    EXPECT_EQ(outcome->op_count, static_cast<std::uint64_t>(time.count()));
    EXPECT_EQ(outcome->elapsed, 1'234ns);
    EXPECT_EQ(outcome->p50, 30ns);
    EXPECT_EQ(outcome->p99, 40ns);
  }
}

TEST(ProgramTest, AClientThatPrintsNoNumbersIsAnError) {
  const auto client = forked_client([](std::uint16_t) {
    std::puts("connection refused");
    return EXIT_FAILURE;
  })(1'234);
  ASSERT_TRUE(client) << client;
  const auto outcome = (*client)->run(5ms);
  ASSERT_THAT(outcome, fails_with(Code::unavailable));
}

TEST(ProgramTest, AProgramThatIsMissingIsNamed) {
  const auto client = program_client("/nowhere/peer", {})(1'234);
  ASSERT_TRUE(client) << client;
  const auto outcome = (*client)->run(5ms);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message(), HasSubstr("the client"));
}

}  // namespace
}  // namespace corolane::bench
