// SPDX-License-Identifier: MIT
// Calls to a server whose types come over the wire.
#include "tools/corolane/dynamic_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "coroutine/base/clock.h"
#include "net/testing/network.h"
#include "rpc/reflection/reflection.h"
#include "rpc/server/server.h"
#include "test/tools/corolane/echo_service.h"

namespace corolane::tools::cli {
namespace {

using namespace std::chrono_literals;

// A server of echo.proto in a simulated network.
class DynamicCallTest : public testing::Test {
 protected:
  DynamicCallTest() {
    EXPECT_TRUE(server_.add(echo_));
    EXPECT_TRUE(server_.add(second_echo_));
    EXPECT_TRUE(server_.add(wall_));
    EXPECT_TRUE(server_.add(reflection_.emplace(server_)));
    EXPECT_TRUE(server_.listen({"10.0.0.1", 8460}, {.door = rpc::Door::nodes}));
  }

  Outcome call(const std::string& method, const std::string& request = "{}",
               std::optional<Duration> timeout = {}, std::optional<std::string> object = {}) {
    return run_dynamic_call(network_,
                            {.peer = {"10.0.0.1", 8460},
                             .method = method,
                             .request = request,
                             .object = std::move(object),
                             .timeout = timeout,
                             .print = [this](const std::string& line) { printed_ += line; }});
  }

  // The message of a misuse.
  std::string complaint(const std::string& method, const std::string& request = "{}",
                        std::optional<std::string> object = {}) {
    const Outcome outcome = call(method, request, {}, std::move(object));
    if (outcome) return "";
    EXPECT_EQ(outcome.error().kind, Failure::Kind::misused);
    return outcome.error().message;
  }

  sim::SimulatedNetwork network_;
  std::string printed_;
  cli_test::EchoService echo_;
  cli_test::SecondEchoService second_echo_;
  cli_test::TestWall wall_;
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

TEST_F(DynamicCallTest, ATimeoutReplacesThatOfTheMethod) {
  const auto start = now();

  const Outcome outcome = call("Echo/Wait", "{}", 20s);

  ASSERT_FALSE(outcome);
  EXPECT_GE(now() - start, 20s);
  EXPECT_LT(now() - start, 21s);
}

TEST_F(DynamicCallTest, AStreamIsPrintedLineByLine) {
  const Outcome outcome = call(
      "Echo/Repeat", R"({"text": "hello", "listeners": [{"name": "Ada"}, {"name": "Grace"}]})");

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, "");
  EXPECT_EQ(printed_,
            "{\"said\":{\"text\":\"hello, Ada\"}}\n"
            "{\"said\":{\"text\":\"hello, Grace\"}}\n");
}

TEST_F(DynamicCallTest, AnErrorAtTheEndOfAStreamFollowsItsMessages) {
  const Outcome outcome = call("Echo/Repeat", R"({"text": "", "listeners": [{"name": "Ada"}]})");

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "invalid_argument: nothing was said");
  EXPECT_EQ(printed_, "{\"said\":{\"text\":\", Ada\"}}\n");
}

TEST_F(DynamicCallTest, AOneWayCallPrintsNothing) {
  const Outcome outcome = call("Echo/Whisper", R"({"text": "psst"})");

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, "");
  ASSERT_TRUE(coroutine::sleep_for(1s)) << "let it arrive";
  EXPECT_EQ(echo_.whispered, "psst");
}

TEST_F(DynamicCallTest, AnObjectIsCalledByItsId) {
  const Outcome shouted = call("Wall/Shout", R"({"text": "hello"})", {}, "the north face");
  const Outcome heard = call("Wall/Listen", "{}", {}, "");
  const Outcome painted = call("Wall/Paint", R"({"text": "a cat"})", {}, "the south face");

  ASSERT_TRUE(shouted) << shouted.error().message;
  EXPECT_EQ(*shouted, "{\n \"text\": \"hello\",\n \"wall\": \"the north face\"\n}\n");
  ASSERT_TRUE(heard) << heard.error().message;
  EXPECT_EQ(*heard, "{\n \"text\": \"hello\"\n}\n") << "an id may be empty";
  ASSERT_TRUE(painted) << painted.error().message;
  ASSERT_TRUE(coroutine::sleep_for(1s)) << "let it arrive";
  EXPECT_EQ(wall_.painted, "a cat on the south face");
}

TEST_F(DynamicCallTest, OnlyMethodsOfObjectsTakeAnObject) {
  EXPECT_EQ(complaint("Shout"),
            "corolane: corolane.cli_test.Wall/Shout is a method of objects: "
            "name one with --object ID");
  EXPECT_EQ(complaint("Whisper", "{}", "the north face"),
            "corolane: corolane.cli_test.Echo has no objects: remove --object");
}

TEST_F(DynamicCallTest, AnUnknownMethodListsAllMethods) {
  EXPECT_EQ(complaint("Echo/Sya"),
            "corolane: the node has no method \"Echo/Sya\"; "
            "did you mean corolane.cli_test.Echo/Say?\n"
            "It has:\n"
            "  corolane.cli_test.Echo/Say\n"
            "  corolane.cli_test.Echo/Find\n"
            "  corolane.cli_test.Echo/Wait\n"
            "  corolane.cli_test.Echo/Repeat\n"
            "  corolane.cli_test.Echo/Whisper\n"
            "  corolane.cli_test.Echo/GiveBack\n"
            "  corolane.cli_test.SecondEcho/Say\n"
            "  corolane.cli_test.Wall/Shout\n"
            "  corolane.cli_test.Wall/Listen\n"
            "  corolane.cli_test.Wall/Paint\n"
            "  corolane.rpc.Reflection/ListServices\n"
            "  corolane.rpc.Reflection/Describe\n"
            "Methods that are not public are hidden from clients: is yours public?");
}

TEST_F(DynamicCallTest, AnUnknownFieldListsTheFieldsOfTheType) {
  EXPECT_EQ(complaint("cli_test.Echo/Say", R"({"txt": "hello"})"),
            "corolane: the request does not fit: txt: Cannot find field.\n"
            "corolane.cli_test.SayRequest has\n"
            "  // In any language.\n"
            "  text: string\n"
            "  // A person who hears it.\n"
            "  listeners: repeated Listener\n"
            "    name: string\n"
            "  // LOUD: Heard next door.\n"
            "  spoken_as: VOICE_UNSPECIFIED|LOUD|SOFT\n"
            "  counts: map<string, int32>\n"
            "  at: fixed64");
}

TEST_F(DynamicCallTest, TextThatIsNotJsonIsRefused) {
  EXPECT_EQ(complaint("Echo/Find", "hello"),
            "corolane: the request does not fit: Unexpected token.\n"
            "hello\n"
            "^\n"
            "google.protobuf.Empty has\n"
            "  no fields: write {}");
}

TEST_F(DynamicCallTest, AMethodIsDescribedWithACommandThatCallsIt) {
  const Outcome outcome = describe_remote_method(network_, {"10.0.0.1", 8460}, "Echo/Sa");

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome, R"(corolane.cli_test.Echo/Say
  Says it once.

  It does not remember it.

  Times out after 10s unless --timeout says otherwise.

Request, corolane.cli_test.SayRequest:
  // In any language.
  text: string
  // A person who hears it.
  listeners: repeated Listener
    name: string
  // LOUD: Heard next door.
  spoken_as: VOICE_UNSPECIFIED|LOUD|SOFT
  counts: map<string, int32>
  at: fixed64

Reply, corolane.cli_test.SayReply:
  said: SayRequest, as above

corolane call 10.0.0.1:8460 Echo/Say '{
  "text": "",
  "listeners": [
    {
      "name": ""
    }
  ],
  "spoken_as": "LOUD",
  "counts": {
    "": 0
  },
  "at": 0
}'
)");
}

TEST_F(DynamicCallTest, TheGuaranteesOfAMethodAreDescribed) {
  const Outcome stream = describe_remote_method(network_, {"10.0.0.1", 8460}, "Repeat");
  const Outcome one_way = describe_remote_method(network_, {"10.0.0.1", 8460}, "Whisper");
  const Outcome idempotent = describe_remote_method(network_, {"10.0.0.1", 8460}, "GiveBack");

  ASSERT_TRUE(stream && one_way && idempotent);
  EXPECT_THAT(*stream,
              testing::HasSubstr("  Says it as often as there are listeners.\n"
                                 "\n"
                                 "  Returns a stream: one line of JSON for each message.\n"
                                 "  Times out after 1min unless --timeout says otherwise.\n"
                                 "  Public: clients may call it.\n"
                                 "\n"));
  EXPECT_THAT(*stream, testing::HasSubstr("\nReply, stream of corolane.cli_test.SayReply:\n"));
  EXPECT_THAT(*one_way, testing::StartsWith("corolane.cli_test.Echo/Whisper\n"
                                            "  One-way: sent, and never answered.\n"
                                            "  An overloaded server refuses it first.\n"
                                            "\n"));
  EXPECT_THAT(*one_way, testing::Not(testing::HasSubstr("Reply")));
  EXPECT_THAT(
      *idempotent,
      testing::HasSubstr("  Idempotent: calling it twice has the effect of calling it once.\n"));
}

TEST_F(DynamicCallTest, TheEffectOfAMethodOnAnObjectIsDescribed) {
  const Outcome durable = describe_remote_method(network_, {"10.0.0.1", 8460}, "Shout");
  const Outcome read_only = describe_remote_method(network_, {"10.0.0.1", 8460}, "Listen");

  ASSERT_TRUE(durable && read_only);
  EXPECT_THAT(*durable, testing::StartsWith(
                            "corolane.cli_test.Wall/Shout\n"
                            "  A method of objects: --object names one. Its state is a WallState.\n"
                            "  Times out after 10s unless --timeout says otherwise.\n"
                            "  Durable: replies after its changes are stored.\n"
                            "\n"));
  EXPECT_THAT(*durable,
              testing::HasSubstr("\ncorolane call 10.0.0.1:8460 Wall/Shout --object ID '{\n"));
  EXPECT_THAT(*read_only, testing::HasSubstr("  Read-only: does not change the object.\n\n"));
}

TEST_F(DynamicCallTest, AllMethodsAreListedByService) {
  const Outcome outcome = list_remote_methods(network_, {"10.0.0.1", 8460});

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(*outcome,
            "corolane.cli_test.Echo\n"
            "  Say (SayRequest) returns (SayReply)\n"
            "  Find (google.protobuf.Empty) returns (SayReply)\n"
            "  Wait (google.protobuf.Empty) returns (SayReply)\n"
            "  Repeat (SayRequest) returns (stream SayReply)\n"
            "  Whisper (SayRequest) one-way\n"
            "  GiveBack (Everything) returns (Everything)\n"
            "\n"
            "corolane.cli_test.SecondEcho\n"
            "  Say (SayRequest) returns (SayReply)\n"
            "\n"
            "corolane.cli_test.Wall: objects of WallState\n"
            "  Shout (SayRequest) returns (ShoutReply)\n"
            "  Listen (google.protobuf.Empty) returns (ShoutReply)\n"
            "  Paint (SayRequest) one-way\n"
            "\n"
            "corolane.rpc.Reflection\n"
            "  ListServices (ListServicesRequest) returns (ListServicesReply)\n"
            "  Describe (DescribeRequest) returns (DescribeReply)\n");
}

TEST_F(DynamicCallTest, NamesForAShellAreShortAndFull) {
  const Outcome outcome = list_method_names(network_, {"10.0.0.1", 8460});

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(*outcome, testing::StartsWith("Echo/Say\tcorolane.cli_test.Echo/Say\n"
                                            "Echo/Find\tcorolane.cli_test.Echo/Find\n"));
}

TEST_F(DynamicCallTest, ReflectionItselfCanBeCalled) {
  const Outcome outcome = call("Reflection/ListServices");

  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(*outcome, testing::HasSubstr(R"("full_name": "corolane.cli_test.Echo/Say")"));
}

TEST_F(DynamicCallTest, ARefusedConnectionIsReportedWithARemedy) {
  const Outcome outcome = run_dynamic_call(
      network_,
      {.peer = {"10.0.0.1", 9}, .method = "Echo/Say", .object = {}, .timeout = {}, .print = {}});

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, Failure::Kind::failed);
  EXPECT_THAT(
      outcome.error().message,
      testing::EndsWith(": is the node running? start it, such as demo_node --config demo.yaml"));
}

TEST_F(DynamicCallTest, AServerWithoutReflectionIsNotReportedAsAnUnknownMethod) {
  rpc::Server bare_server(network_);
  ASSERT_TRUE(bare_server.listen({"10.0.0.1", 8470}, {.door = rpc::Door::nodes}));

  const Outcome outcome = run_dynamic_call(
      network_,
      {.peer = {"10.0.0.1", 8470}, .method = "Echo/Say", .object = {}, .timeout = {}, .print = {}});

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, Failure::Kind::failed);
  EXPECT_THAT(outcome.error().message,
              testing::EndsWith("; does node.clients.reflection switch it off?"));
}

}  // namespace
}  // namespace corolane::tools::cli
