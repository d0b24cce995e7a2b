// SPDX-License-Identifier: MIT
// JSON of messages, compared with protobuf's own, and malformed input from peers.
#include "rpc/http/json.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "test/rpc/mirror.pb.h"
#include "test/rpc/random_message.h"

namespace corolane::test {
namespace {

using google::protobuf::util::JsonStringToMessage;
using google::protobuf::util::MessageDifferencer;
using google::protobuf::util::MessageToJsonString;
using testing::HasSubstr;

Result<Everything> read(std::string_view json) {
  Everything message;
  if (auto done = rpc::JsonReader().read(json, message); !done) return done.error();
  return message;
}

Result<std::string> write(const Everything& message) {
  std::string json;
  if (auto done = rpc::JsonWriter().write(message, json); !done) return done.error();
  return json;
}

// The error for a refused text.
std::string refusal(std::string_view json) {
  const auto message = read(json);
  if (message) return "read: " + message->ShortDebugString();
  EXPECT_EQ(message.error().code(), Code::invalid_argument);
  return message.error().message();
}

TEST(JsonTest, ReadsAndWritesAsProtobufDoes) {
  Random random;
  rpc::JsonReader reader;
  rpc::JsonWriter writer;
  for (int round = 0; round < 500; ++round) {
    Everything message;
    fill_with_random(message, random, 3);
    std::string ours;
    const auto written = writer.write(message, ours);
    ASSERT_TRUE(written) << written << message.DebugString();

    Everything theirs_of_ours;
    const auto status = JsonStringToMessage(ours, &theirs_of_ours);
    ASSERT_TRUE(status.ok()) << status << "\n" << ours;
    ASSERT_TRUE(MessageDifferencer::Equals(theirs_of_ours, message)) << ours;

    std::string theirs;
    ASSERT_TRUE(MessageToJsonString(message, &theirs).ok());
    Everything ours_of_theirs;
    const auto read_theirs = reader.read(theirs, ours_of_theirs);
    ASSERT_TRUE(read_theirs) << read_theirs << "\n" << theirs;
    ASSERT_TRUE(MessageDifferencer::Equals(ours_of_theirs, message)) << theirs;

    Everything again;
    ASSERT_TRUE(reader.read(ours, again));
    ASSERT_TRUE(MessageDifferencer::Equals(again, message)) << ours;
  }
}

TEST(JsonTest, WritesTheExpectedText) {
  Everything message;
  message.set_an_int64(-9'007'199'254'740'993);
  message.set_a_string("a \"quote\"\n");
  message.set_some_bytes("\xff\x01");
  message.set_colour(BLACK);
  message.add_children()->set_a_double(0.1);
  (*message.mutable_by_number())[7] = "seven";
  message.mutable_timestamp()->set_seconds(1'700'000'000);
  message.mutable_duration()->set_nanos(-500'000'000);
  message.mutable_wrapped_bool();
  message.set_odd_name("odd");
  EXPECT_EQ(*write(message),
            R"({"anInt64":"-9007199254740993","aString":"a \"quote\"\n","someBytes":"/wE=",)"
            R"("colour":"BLACK","@odd":"odd","children":[{"aDouble":0.1}],)"
            R"("byNumber":{"7":"seven"},"timestamp":"2023-11-14T22:13:20Z","duration":"-0.500s",)"
            R"("wrappedBool":false})");
  EXPECT_EQ(*write({}), "{}");
}

TEST(JsonTest, NumbersMayBeTextAndTextMayBeNumbers) {
  const auto message =
      read(R"({"anInt32":"-7","an_int64":9007199254740993,"aUint64":"18446744073709551615",
    "aDouble":"1.5","aFloat":"-Infinity","int32s":[1e3,1.0,"2"],"doubles":["NaN",-0,1e-400],
    "byNumber":{"-3":"x"}, "byTruth":{"true":1,"false":"WHITE"}, "colour":-1})");
  ASSERT_TRUE(message) << message;
  EXPECT_EQ(message->an_int32(), -7);
  EXPECT_EQ(message->an_int64(), 9'007'199'254'740'993);
  EXPECT_EQ(message->a_uint64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(message->a_double(), 1.5);
  EXPECT_EQ(message->a_float(), -std::numeric_limits<float>::infinity());
  EXPECT_THAT(message->int32s(), testing::ElementsAre(1000, 1, 2));
  EXPECT_TRUE(message->doubles(0) != message->doubles(0));
  EXPECT_EQ(message->doubles(2), 0.0);
  EXPECT_EQ(message->by_number().at(-3), "x");
  EXPECT_EQ(message->by_truth().at(true), WHITE);
  EXPECT_EQ(message->colour(), NEGATIVE);
}

TEST(JsonTest, NullLeavesAFieldUnset) {
  const auto message = read(
      R"({"anInt32":null,"child":null,"int32s":null,"byName":null,"chosenText":null,"value":null,)"
      R"("values":[null,1],"wrappedInt32":null,"timestamp":null})");
  ASSERT_TRUE(message) << message;
  Everything expected;
  expected.mutable_value()->set_null_value(google::protobuf::NULL_VALUE);
  expected.add_values()->set_null_value(google::protobuf::NULL_VALUE);
  expected.add_values()->set_number_value(1);
  EXPECT_TRUE(MessageDifferencer::Equals(*message, expected)) << message->DebugString();
  EXPECT_EQ(read(R"({"chosenNull":null})")->choice_case(), Everything::kChosenNull);
  EXPECT_EQ(refusal(R"({"int32s":[1,null]})"), "int32s[1]: null is not allowed here");
}

TEST(JsonTest, NullValueHasNoOtherValueThanNull) {
  for (const char* json : {R"({"chosenNull":0})", R"({"chosenNull":"NULL_VALUE"})"}) {
    EXPECT_EQ(read(json)->choice_case(), Everything::kChosenNull) << json;
  }
  EXPECT_EQ(refusal(R"({"chosenNull":9})"), "chosenNull: expects null, not 9");
}

TEST(JsonTest, UnknownFieldsAreIgnoredWithTheirContent) {
  const auto message =
      read(R"({"new":{"a":[1,{"b":null}],"c":"d"},"anInt32":1,"newer":[[],{}],"newest":3})");
  ASSERT_TRUE(message) << message;
  EXPECT_EQ(message->ShortDebugString(), "an_int32: 1");
}

TEST(JsonTest, Base64IsReadInBothAlphabetsWithPaddingOrWithout) {
  for (const char* text : {"+/8=", "+/8", "-_8=", "-_8"}) {
    const auto message = read(R"({"someBytes":")" + std::string(text) + "\"}");
    ASSERT_TRUE(message) << message;
    EXPECT_EQ(message->some_bytes(), "\xfb\xff") << text;
  }
  for (const char* text : {"+", "+/8==", "=", "a b=", "+/8=+/8="}) {
    EXPECT_THAT(refusal(R"({"someBytes":")" + std::string(text) + "\"}"), HasSubstr("base64"));
  }
}

TEST(JsonTest, ARefusalNamesThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"children":[{},{},{},{"anInt32":"many"}]})",
       "children[3].anInt32: expects an int32, not \"many\""},
      {R"({"child":{"tree":{"a\"b":{"aBool":1}}}})",
       R"(child.tree["a\"b"].aBool: expects true or false, not 1)"},
      {R"({"anInt32":2147483648})", "anInt32: expects an int32, not 2147483648"},
      {R"({"anInt32":1.5})", "anInt32: expects an int32, not 1.5"},
      {R"({"aUint32":-1})", "aUint32: expects a uint32, not -1"},
      {R"({"aFloat":1e39})", "aFloat: expects a float, not 1e39"},
      {R"({"anInt64":1e19})", "anInt64: expects an int64, not 1e19"},
      {R"({"aString":1})", "aString: expects a string, not 1"},
      {R"({"aString":[]})", "aString: expects string, not an array"},
      {R"({"colour":"PINK"})", "colour: expects a name of corolane.test.Colour, not \"PINK\""},
      {R"({"int32s":1})", "int32s: expects an array, not 1"},
      {R"({"int32s":{}})", "int32s: expects an array, not an object"},
      {R"({"byName":[]})", "byName: expects an object, not an array"},
      {R"({"byNumber":{"x":"y"}})", "expects an int64, not \"x\""},
      {R"({"child":1})", "child: expects an object, not 1"},
      {R"({"child":[]})", "child: expects a corolane.test.Everything, not an array"},
      {R"({"timestamp":"yesterday"})",
       "timestamp: expects a google.protobuf.Timestamp, not \"yesterday\""},
      {R"({"duration":"1m"})", "duration: expects a google.protobuf.Duration, not \"1m\""},
      {R"({"chosenNumber":1,"chosenText":"x"})",
       "chosenText: another field of the oneof choice is set already"},
      {R"({"child":{},"child":{}})", "child: is set twice"},
      {R"({"aString":"\udd39"})", "half of a surrogate pair is not valid text"},
      {R"({"by\udd39":1})", "half of a surrogate pair is not valid text"},
      {"[]", "expects a corolane.test.Everything, not an array"},
      {"null", "expects an object, not null"},
      {"", "invalid JSON at byte 0: The document is empty."},
      {R"({"anInt32":1} x)",
       "invalid JSON at byte 14: The document root must not be followed by other values."},
      {"{\"aString\":\"\xff\"}", "invalid JSON: it is not UTF-8"},
  };
  for (const auto& [json, expected] : cases) EXPECT_THAT(refusal(json), HasSubstr(expected));
  EXPECT_THAT(refusal(std::string_view("{}\0{}", 5)), HasSubstr("invalid JSON at byte 2"));
}

TEST(JsonTest, OnlyStrictJsonIsRead) {
  for (const char* json :
       {"{'anInt32':1}", "{anInt32:1}", "{\"anInt32\":01}", "{\"anInt32\":+1}", "{\"anInt32\":1,}",
        "{\"int32s\":[1,]}", "{\"aDouble\":NaN}", "{\"aDouble\":.5}", "{\"aDouble\":1.}", "{/**/}",
        "{\"aString\":\"\t\"}", R"({"aString":"\ud800"})", R"({"aString":"\x41"})", "{", "{\"a\"",
        "{\"anInt32\":1]", "nul"}) {
    EXPECT_THAT(refusal(json), HasSubstr("invalid JSON")) << json;
  }
}

TEST(JsonTest, NestingHasALimit) {
  const auto nested = [](const std::string& open, const std::string& close, std::size_t depth) {
    std::string json;
    for (std::size_t i = 0; i < depth; ++i) json += open;
    for (std::size_t i = 0; i < depth; ++i) json += close;
    return json;
  };
  EXPECT_TRUE(read("{\"child\":" + nested("{\"child\":", "}", 0) + "{}}"));
  const std::string deep = nested("{\"child\":", "}", rpc::json_depth_max - 1);
  const auto place = deep.find(":}");
  const auto read_deep = read(std::string(deep).insert(place + 1, "{}"));
  ASSERT_TRUE(read_deep) << read_deep;
  EXPECT_TRUE(write(*read_deep));
  EXPECT_THAT(refusal(std::string(deep).insert(place + 1, "{\"child\":{}}")),
              HasSubstr("nested too deeply"));
  for (const char* field : {"{\"value\":", "{\"unknown\":"}) {
    EXPECT_TRUE(read(field + nested("[", "]", 99) + "}")) << field;
    EXPECT_THAT(refusal(field + nested("[", "]", 100) + "}"), HasSubstr("nested too deeply"));
    EXPECT_THAT(refusal(field + nested("[", "]", 100'000) + "}"), HasSubstr("nested too deeply"));
  }
  Everything too_deep;
  Everything* innermost = &too_deep;
  for (std::size_t i = 0; i < rpc::json_depth_max; ++i) innermost = innermost->mutable_child();
  EXPECT_THAT(write(too_deep), fails_with(Code::invalid_argument));
}

TEST(JsonTest, MessagesThatJsonCannotCarryAreNotWritten) {
  Everything no_text;
  no_text.mutable_child()->add_strings("\xff");
  const auto json = write(no_text);
  ASSERT_THAT(json, fails_with(Code::invalid_argument));
  EXPECT_EQ(json.error().message(),
            "corolane.test.Everything.child.strings cannot be written as JSON: a string is not "
            "UTF-8");
  Everything no_time;
  no_time.mutable_timestamp()->set_nanos(-1);
  EXPECT_THAT(write(no_time), fails_with(Code::invalid_argument));
  Everything no_value;
  no_value.mutable_value();
  EXPECT_THAT(write(no_value), fails_with(Code::invalid_argument));
  no_value.mutable_value()->set_number_value(std::numeric_limits<double>::infinity());
  EXPECT_THAT(write(no_value), fails_with(Code::invalid_argument));
}

TEST(JsonTest, AnEnumValueOfANewerProtoIsWrittenAsANumber) {
  Everything message;
  message.set_colour(static_cast<Colour>(77));
  EXPECT_EQ(*write(message), R"({"colour":77})");
  EXPECT_EQ(read(R"({"colour":77})")->colour(), 77);
}

}  // namespace
}  // namespace corolane::test
