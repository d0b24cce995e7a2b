// SPDX-License-Identifier: MIT
// Whose fault an error is.
#include "rpc/observe/call_outcome.h"

#include <gtest/gtest.h>

namespace corolane::test {
namespace {

using rpc::is_fault_of_server;

TEST(CallOutcomeTest, ErrorsThatAnswerTheCallerAreNotTheServersFault) {
  for (const Code code : {Code::cancelled, Code::invalid_argument, Code::not_found,
                          Code::already_exists, Code::permission_denied, Code::failed_precondition,
                          Code::aborted, Code::out_of_range, Code::unauthenticated}) {
    EXPECT_FALSE(is_fault_of_server(Error(code, ""))) << code;
    EXPECT_FALSE(is_fault_of_server(Error(code, "").with_origin(Origin::runtime))) << code;
  }
}

TEST(CallOutcomeTest, ErrorsThatAnOperatorShouldLookAtAreTheServersFault) {
  for (const Code code : {Code::unknown, Code::deadline_exceeded, Code::unimplemented,
                          Code::internal, Code::unavailable, Code::data_loss}) {
    EXPECT_TRUE(is_fault_of_server(Error(code, ""))) << code;
    EXPECT_TRUE(is_fault_of_server(Error(code, "").with_origin(Origin::handler))) << code;
  }
}

TEST(CallOutcomeTest, AFullLobbyAnswersAndAFullServerFails) {
  const Error full(Code::resource_exhausted, "full");
  EXPECT_FALSE(is_fault_of_server(full));
  EXPECT_FALSE(is_fault_of_server(Error(full).with_origin(Origin::handler)));
  EXPECT_TRUE(is_fault_of_server(Error(full).with_origin(Origin::runtime)));
}

TEST(CallOutcomeTest, ACancelledCallIsTheServersFaultWhenItIsLate) {
  const Error cancelled(Code::cancelled, "");
  EXPECT_FALSE(is_fault_of_server(cancelled, /*is_late=*/false));
  EXPECT_TRUE(is_fault_of_server(cancelled, /*is_late=*/true));
}

TEST(CallOutcomeTest, LatenessDoesNotTurnAnAnswerIntoAFault) {
  EXPECT_FALSE(is_fault_of_server(Error(Code::not_found, ""), /*is_late=*/true));
}

}  // namespace
}  // namespace corolane::test
