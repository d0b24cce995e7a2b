// Calls of a server whose types come over the wire.
#include "tools/cli/dynamic_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "rpc/reflection.h"
#include "rpc/server.h"
#include "test/sim/network.h"
#include "test/tools/cli/echo_service.h"

namespace corolane::tools::cli {
namespace {

using namespace std::chrono_literals;

// A server of echo.proto in a simulated network.
class DynamicCallTest : public testing::Test {
 protected:
  DynamicCallTest() {
    EXPECT_TRUE(server_.add(echo_));
    EXPECT_TRUE(server_.add(second_echo_));
    EXPECT_TRUE(server_.add(reflection_.emplace(server_)));
    EXPECT_TRUE(server_.listen({"10.0.0.1", 8460}));
  }

  Outcome call(const std::string& method, const std::string& request = "{}",
               std::optional<Duration> timeout = {}) {
    return run_dynamic_call(
        network_,
        {.peer = {"10.0.0.1", 8460}, .method = method, .request = request, .timeout = timeout});
  }

  // What a misuse is told.
  std::string complaint(const std::string& method, const std::string& request = "{}") {
    const Outcome outcome = call(method, request);
    if (outcome) return "";
    EXPECT_EQ(outcome.error().kind, Failure::Kind::misused);
    return outcome.error().message;
  }

  sim::SimulatedNetwork network_;
  cli_test::EchoService echo_;
  cli_test::SecondEchoService second_echo_;
  std::optional<rpc::ReflectionService> reflection_;
  rpc::Server server_{network_};
};

TEST_F(DynamicCallTest, TheReplyIsIndentedJsonWithTheNamesOfTheProto) {
  const Outcome outcome = call("cli_test.Echo/Say", R"({
      "text": "hello", "listeners": [{"name": "Ada"}], "spokenAs": "LOUD", "counts": {"a": 1}})");

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, R"({
 "said": {
  "text": "hello",
  "listeners": [
   {
    "name": "Ada"
   }
  ],
  "spoken_as": "LOUD",
  "counts": {
   "a": 1
  }
 }
}
)");
}

TEST_F(DynamicCallTest, AnEmptyRequestIsTheDefault) {
  const Outcome outcome = call("SecondEcho/Say");

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, "{}\n");
}

TEST_F(DynamicCallTest, AnErrorOfTheHandlerIsItsCodeAndMessage) {
  const Outcome outcome = call("Echo/Find");

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, Failure::Kind::failed);
  EXPECT_EQ(outcome.error().message, "not_found: nobody said that");
}

TEST_F(DynamicCallTest, WithoutATimeoutACallTakesAsLongAsItsMethodAllows) {
  const auto start = now();

  const Outcome outcome = call("Echo/Wait");

  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, testing::StartsWith("deadline_exceeded: "));
  EXPECT_THAT(outcome.error().message, testing::EndsWith("\nThe call may have taken effect."));
  EXPECT_GE(now() - start, 200ms);
  EXPECT_LT(now() - start, 250ms);
}

TEST_F(DynamicCallTest, ATimeoutHoldsInsteadOfThatOfTheMethod) {
  const auto start = now();

  const Outcome outcome = call("Echo/Wait", "{}", 20s);

  ASSERT_FALSE(outcome);
  EXPECT_GE(now() - start, 20s);
  EXPECT_LT(now() - start, 21s);
}

TEST_F(DynamicCallTest, AnUnknownMethodListsWhatThereIs) {
  EXPECT_EQ(complaint("Echo/Sya"),
            "corolane: the node has no method \"Echo/Sya\"; "
            "did you mean corolane.cli_test.Echo/Say?\n"
            "It has:\n"
            "  corolane.cli_test.Echo/Say\n"
            "  corolane.cli_test.Echo/Find\n"
            "  corolane.cli_test.Echo/Wait\n"
            "  corolane.cli_test.SecondEcho/Say\n"
            "  corolane.rpc.Reflection/ListServices\n"
            "  corolane.rpc.Reflection/Describe");
}

TEST_F(DynamicCallTest, AFieldThatThereIsNotListsThoseThatThereAre) {
  EXPECT_EQ(complaint("cli_test.Echo/Say", R"({"txt": "hello"})"),
            "corolane: the request does not fit: txt: Cannot find field.\n"
            "corolane.cli_test.SayRequest has these fields:\n"
            "  text: string\n"
            "  listeners: repeated corolane.cli_test.SayRequest.Listener\n"
            "  spoken_as: VOICE_UNSPECIFIED|LOUD|SOFT\n"
            "  counts: map<string, int32>\n"
            "  at: fixed64\n"
            "corolane.cli_test.SayRequest.Listener has these fields:\n"
            "  name: string");
}

TEST_F(DynamicCallTest, TextThatIsNoJsonIsRefused) {
  EXPECT_EQ(complaint("Echo/Find", "hello"),
            "corolane: the request does not fit: Unexpected token.\n"
            "hello\n"
            "^\n"
            "google.protobuf.Empty has no fields: write {}");
}

TEST_F(DynamicCallTest, ReflectionItselfCanBeCalled) {
  const Outcome outcome = call("Reflection/ListServices");

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(*outcome, testing::HasSubstr(R"("full_name": "corolane.cli_test.Echo/Say")"));
}

TEST_F(DynamicCallTest, WhereNobodyListensIsSaidWithARemedy) {
  const Outcome outcome =
      run_dynamic_call(network_, {.peer = {"10.0.0.1", 9}, .method = "Echo/Say", .timeout = {}});

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, Failure::Kind::failed);
  EXPECT_THAT(outcome.error().message,
              testing::EndsWith(": is the node running? start one with tools/run"));
}

TEST_F(DynamicCallTest, AServerWithoutReflectionIsToldFromOneWithoutTheMethod) {
  rpc::Server bare_server(network_);
  ASSERT_TRUE(bare_server.listen({"10.0.0.1", 8470}));

  const Outcome outcome =
      run_dynamic_call(network_, {.peer = {"10.0.0.1", 8470}, .method = "Echo/Say", .timeout = {}});

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, Failure::Kind::failed);
  EXPECT_THAT(outcome.error().message, testing::EndsWith("; add an rpc::ReflectionService to it"));
}

}  // namespace
}  // namespace corolane::tools::cli
