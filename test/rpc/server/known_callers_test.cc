// The callers that a server remembers, and when it forgets them.
#include "rpc/server/detail/known_callers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::rpc::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

struct FakeConnection {
  const Caller& caller() const { return said; }
  Caller said;
};
using Callers = KnownCallersOf<FakeConnection>;

TEST(KnownCallersTest, ReturnsThePreviousConnection) {
  Callers callers;
  FakeConnection first{{.id = "a", .connection = 1}};
  FakeConnection second{{.id = "a", .connection = 2}};
  EXPECT_EQ(callers.opened(first).value(), nullptr);
  EXPECT_EQ(callers.opened(second).value(), &first);
  EXPECT_EQ(callers.size(), 1u);
}

TEST(KnownCallersTest, RefusesAnEarlierConnection) {
  Callers callers;
  FakeConnection first{{.id = "a", .connection = 1}};
  FakeConnection second{{.id = "a", .connection = 2}};
  EXPECT_TRUE(callers.opened(second));
  EXPECT_THAT(callers.opened(first), fails_with(Code::aborted));
  callers.ended(second);
  EXPECT_THAT(callers.opened(first), fails_with(Code::aborted));
}

TEST(KnownCallersTest, ForgetsACallerThatIsGoneForAMinute) {
  Callers callers;
  FakeConnection first{{.id = "a", .connection = 1}};
  EXPECT_TRUE(callers.opened(first));
  callers.ended(first);
  EXPECT_EQ(callers.size(), 1u);
  ASSERT_TRUE(coroutine::sleep_for(61s));
  FakeConnection other{{.id = "b", .connection = 1}};
  EXPECT_TRUE(callers.opened(other));
  EXPECT_EQ(callers.size(), 1u);
}

TEST(KnownCallersTest, RemembersNothingOfAConnectionWithoutANumber) {
  Callers callers;
  for (int i = 0; i < 1000; ++i) {
    FakeConnection stranger{{.id = std::to_string(i), .connection = 0}};
    EXPECT_THAT(callers.opened(stranger), fails_with(Code::invalid_argument));
    callers.ended(stranger);
  }
  EXPECT_EQ(callers.size(), 0u);
}

TEST(KnownCallersTest, AServerRejectsACallerWithoutANumber) {
  test::EchoWorld world;
  test::RawPeer peer(world);
  peer.say_hello({.caller_id = std::string(16, 'x'), .caller_connection = 0});
  EXPECT_EQ(peer.receive_bye().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace corolane::rpc::detail
