// SPDX-License-Identifier: MIT
#include "coroutine/base/error.h"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>
#include <vector>

namespace corolane {
namespace {

using namespace std::chrono_literals;

// The list of https://grpc.io/docs/guides/status-codes/.
const std::vector<std::pair<std::uint32_t, std::string_view>> grpc_codes = {
    {1, "cancelled"},           {2, "unknown"},
    {3, "invalid_argument"},    {4, "deadline_exceeded"},
    {5, "not_found"},           {6, "already_exists"},
    {7, "permission_denied"},   {8, "resource_exhausted"},
    {9, "failed_precondition"}, {10, "aborted"},
    {11, "out_of_range"},       {12, "unimplemented"},
    {13, "internal"},           {14, "unavailable"},
    {15, "data_loss"},          {16, "unauthenticated"},
};

TEST(ErrorTest, CodesHaveTheNumbersAndNamesOfGrpc) {
  for (const auto& [number, name] : grpc_codes) {
    EXPECT_EQ(static_cast<std::uint32_t>(code_from_number(number)), number);
    EXPECT_EQ(to_string(code_from_number(number)), name);
  }
}

TEST(ErrorTest, UnassignedNumbersAreUnknown) {
  EXPECT_EQ(code_from_number(0), Code::unknown);
  EXPECT_EQ(code_from_number(17), Code::unknown);
  EXPECT_EQ(code_from_number(4'000'000'000), Code::unknown);
  EXPECT_EQ(to_string(Code{200}), "unknown");
}

TEST(ErrorTest, PrintsItsCodeAndMessage) {
  EXPECT_EQ(Error(Code::not_found, "no game 17").to_string(), "not_found: no game 17");
  EXPECT_EQ(Error(Code::aborted, "").to_string(), "aborted");
  std::ostringstream out;
  out << Error(Code::data_loss, "torn page") << '/' << Code::internal;
  EXPECT_EQ(out.str(), "data_loss: torn page/internal");
}

TEST(ErrorTest, ContextIsPutBeforeTheMessage) {
  const Error error = Error(Code::not_found, "no row").with_context("game 17").with_context("load");
  EXPECT_EQ(error.message(), "load: game 17: no row");
  EXPECT_EQ(error.code(), Code::not_found);
}

TEST(ErrorTest, HasNoRetryMarksByDefault) {
  const Error error(Code::unavailable, "gone");
  EXPECT_FALSE(error.maybe_executed());
  EXPECT_EQ(error.retry_after(), 0ms);
  const Error told = Error(error).with_maybe_executed().with_retry_after(50ms);
  EXPECT_TRUE(told.maybe_executed());
  EXPECT_EQ(told.retry_after(), 50ms);
}

TEST(ErrorTest, ACallThatMayHaveBeenExecutedIsNeverMarkedNotExecuted) {
  const Error refused = Error(Code::unavailable, "full").with_not_executed();
  EXPECT_TRUE(refused.not_executed());
  EXPECT_FALSE(Error(refused).without_not_executed().not_executed());
  const Error unknown = Error(refused).with_maybe_executed();
  EXPECT_FALSE(unknown.not_executed());
  EXPECT_FALSE(Error(unknown).with_not_executed().not_executed());
  EXPECT_NE(refused, Error(refused).without_not_executed());
}

TEST(ErrorTest, TheMarksCoverAllAttempts) {
  const Error refused = Error(Code::unavailable, "full").with_not_executed();
  const Error own(Code::unavailable, "no");
  const Error unknown = Error(own).with_maybe_executed();
  EXPECT_TRUE(Error(refused).with_attempt(refused).not_executed());
  EXPECT_FALSE(Error(refused).with_attempt(own).not_executed());
  EXPECT_FALSE(Error(own).with_attempt(refused).not_executed());
  EXPECT_TRUE(Error(refused).with_attempt(unknown).maybe_executed());
  EXPECT_FALSE(Error(refused).with_attempt(unknown).not_executed());
}

TEST(ErrorTest, DetailIsForProgramsAlone) {
  const Error error(Code::aborted, "moved");
  EXPECT_EQ(error.detail(), "");
  const Error told = Error(error).with_detail(std::string("to\0two", 6)).with_context("game 17");
  EXPECT_EQ(told.detail(), std::string("to\0two", 6));
  EXPECT_EQ(told.to_string(), "aborted: game 17: moved");
}

TEST(ErrorTest, ErrorsAreEqualWhenAllTheirFieldsAre) {
  const Error error(Code::unavailable, "gone");
  EXPECT_EQ(error, Error(Code::unavailable, "gone"));
  EXPECT_NE(error, Error(Code::aborted, "gone"));
  EXPECT_NE(error, Error(Code::unavailable, "away"));
  EXPECT_NE(error, Error(error).with_maybe_executed());
  EXPECT_NE(error, Error(error).with_retry_after(1ms));
  EXPECT_NE(error, Error(error).with_detail("to two"));
}

TEST(ErrorTest, TheFirstOriginStays) {
  Error error(Code::aborted, "no");
  EXPECT_EQ(error.origin(), Origin::unknown);
  error = std::move(error).with_origin(Origin::runtime).with_origin(Origin::handler);
  EXPECT_EQ(error.origin(), Origin::runtime);
  EXPECT_FALSE(error.is_from_handler());
  EXPECT_TRUE(Error(Code::aborted, "no").with_origin(Origin::handler).is_from_handler());
  EXPECT_EQ(error, Error(Code::aborted, "no")) << "it is the same error, wherever it was made";
}

}  // namespace
}  // namespace corolane
