// SPDX-License-Identifier: MIT
// google.protobuf.Any in JSON, compared with protobuf's own.
#include <gmock/gmock.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "rpc/http/json.h"
#include "test/rpc/mirror.pb.h"
#include "test/rpc/random_message.h"

namespace corolane::test {
namespace {

namespace pb = google::protobuf;
using pb::util::JsonStringToMessage;
using pb::util::MessageDifferencer;
using pb::util::MessageToJsonString;
using testing::HasSubstr;

Result<Anything> read_anything(std::string_view json) {
  Anything message;
  if (auto done = rpc::JsonReader().read(json, message); !done) return done.error();
  return message;
}

std::string refusal_of_anything(std::string_view json) {
  const auto message = read_anything(json);
  if (message) return "read: " + message->ShortDebugString();
  EXPECT_EQ(message.error().code(), Code::invalid_argument);
  return message.error().message();
}

// The JSON of any message, or the error.
std::string json_of(const pb::Message& message) {
  std::string json;
  const auto written = rpc::JsonWriter().write(message, json);
  return written ? json : written.error().message();
}

pb::Any any_of(const pb::Message& content) {
  pb::Any any;
  any.PackFrom(content);
  return any;
}

template <typename Wrapper, typename Value>
pb::Any wrapped(const Value& value) {
  Wrapper wrapper;
  wrapper.set_value(value);
  return any_of(wrapper);
}

// `text` repeated.
std::string times(std::size_t count, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

// A value of each type with a JSON form of its own that protobuf's reader takes in an Any, which is
// all but ListValue, and ordinary messages.
std::vector<pb::Any> sample_anys() {
  Everything everything;
  everything.set_an_int64(7);
  everything.set_a_string("a \"quote\"");
  everything.mutable_value()->set_bool_value(true);
  everything.add_children()->set_colour(BLACK);
  pb::Timestamp time;
  time.set_seconds(1'700'000'000);
  pb::Duration duration;
  duration.set_seconds(-3);
  pb::FieldMask mask;
  mask.add_paths("child.an_int32");
  pb::Struct structure;
  structure.mutable_fields()->insert({"a", {}});
  structure.mutable_fields()->at("a").set_string_value("b");
  pb::Value value;
  *value.mutable_struct_value() = structure;
  pb::Value null;
  null.set_null_value(pb::NULL_VALUE);
  return {
      any_of(everything),
      any_of(pb::Empty()),
      any_of(time),
      any_of(duration),
      any_of(mask),
      any_of(structure),
      any_of(value),
      any_of(null),
      wrapped<pb::Int32Value>(-1),
      wrapped<pb::Int64Value>(-2),
      wrapped<pb::UInt32Value>(3),
      wrapped<pb::UInt64Value>(4),
      wrapped<pb::FloatValue>(0.5F),
      wrapped<pb::DoubleValue>(0.25),
      wrapped<pb::BoolValue>(true),
      wrapped<pb::StringValue>("text"),
      wrapped<pb::BytesValue>("\xff"),
      any_of(wrapped<pb::Int32Value>(5)),
      {},
  };
}

void expect_equal(const pb::Message& ours, const pb::Message& theirs, const std::string& json) {
  EXPECT_TRUE(MessageDifferencer::Equals(ours, theirs)) << json << "\n" << ours.DebugString();
}

TEST(JsonAnyTest, IsWrittenAsProtobufWritesIt) {
  std::vector<pb::Any> anys = sample_anys();
  pb::ListValue list;
  list.add_values()->set_number_value(1.5);
  list.add_values()->mutable_list_value();
  anys.push_back(any_of(list));
  for (const pb::Any& any : anys) {
    Anything message;
    *message.mutable_any() = any;
    std::string theirs;
    const auto status = MessageToJsonString(message, &theirs);
    ASSERT_TRUE(status.ok()) << status << message.DebugString();
    EXPECT_EQ(json_of(message), theirs);
    const auto again = read_anything(theirs);
    ASSERT_TRUE(again) << again << theirs;
    expect_equal(*again, message, theirs);
  }
}

TEST(JsonAnyTest, WritesTheExpectedText) {
  EXPECT_EQ(json_of(wrapped<pb::Int64Value>(7)),
            R"({"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"7"})");
  EXPECT_EQ(json_of(any_of(pb::ListValue())),
            R"({"@type":"type.googleapis.com/google.protobuf.ListValue","value":[]})");
  EXPECT_EQ(json_of(any_of(pb::Any())),
            R"({"@type":"type.googleapis.com/google.protobuf.Any","value":{}})");
  Anything message;
  message.mutable_any()->PackFrom(pb::Empty(), "a \"b\"");
  message.add_anys();
  (*message.mutable_by_name())["x"] = wrapped<pb::BoolValue>(true);
  Everything everything;
  everything.set_an_int32(1);
  everything.mutable_value()->set_number_value(2);
  message.mutable_chosen_any()->PackFrom(everything);
  EXPECT_EQ(json_of(message),
            R"({"any":{"@type":"a \"b\"/google.protobuf.Empty"},"anys":[{}],)"
            R"("byName":{"x":{"@type":"type.googleapis.com/google.protobuf.BoolValue",)"
            R"("value":true}},)"
            R"("chosenAny":{"@type":"type.googleapis.com/corolane.test.Everything",)"
            R"("anInt32":1,"value":2}})");
}

// An Any, possibly in other Anys, of a random message.
pb::Any random_any(Random& random) {
  Everything everything;
  fill_with_random(everything, random, 2);
  const std::vector<pb::Any> samples = sample_anys();
  pb::Any any = random.one_in(2) ? any_of(everything) : samples[random.below(samples.size())];
  while (random.one_in(3)) {
    Anything around;
    *around.mutable_any() = any;
    any = any_of(random.one_in(2) ? static_cast<pb::Message&>(around) : any);
  }
  return any;
}

TEST(JsonAnyTest, ReadsAndWritesAsProtobufDoes) {
  Random random;
  rpc::JsonReader reader;
  rpc::JsonWriter writer;
  for (int round = 0; round < 300; ++round) {
    Anything message;
    Anything* const place = random.one_in(2) ? &message : message.mutable_child();
    if (random.one_in(2)) *place->mutable_any() = random_any(random);
    for (auto count = random.below(3); count > 0; --count) *place->add_anys() = random_any(random);
    if (random.one_in(3)) (*place->mutable_by_name())["a\n"] = random_any(random);
    if (random.one_in(3)) *place->mutable_chosen_any() = random_any(random);

    std::string ours;
    const auto written = writer.write(message, ours);
    ASSERT_TRUE(written) << written << message.DebugString();
    Anything theirs_of_ours;
    const auto status = JsonStringToMessage(ours, &theirs_of_ours);
    ASSERT_TRUE(status.ok()) << status << "\n" << ours;
    expect_equal(theirs_of_ours, message, ours);

    std::string theirs;
    ASSERT_TRUE(MessageToJsonString(message, &theirs).ok());
    for (const std::string& json : {ours, theirs}) {
      Anything again;
      const auto read = reader.read(json, again);
      ASSERT_TRUE(read) << read << "\n" << json;
      expect_equal(again, message, json);
    }
  }
}

TEST(JsonAnyTest, TheTypeMayBeAnyMember) {
  std::array members = {
      R"("@type":"a/corolane.test.Everything")", R"("anInt32":1)",
      R"("unknown":{"@type":7,"a":[{"@type":"x"}]})", R"("value":{"@type":"\u0041"})",
      R"("child":{"any":{"value":"2s","\u0040type":"b/google.protobuf.Duration"}})"};
  Everything content;
  content.set_an_int32(1);
  (*content.mutable_value()->mutable_struct_value()->mutable_fields())["@type"].set_string_value(
      "A");
  pb::Duration duration;
  duration.set_seconds(2);
  content.mutable_child()->mutable_any()->PackFrom(duration, "b");
  std::ranges::sort(members);
  do {
    std::string json = R"({"any":{)";
    for (const char* member : members) json.append(json.back() == '{' ? "" : " , ").append(member);
    json += "}}";
    const auto message = read_anything(json);
    ASSERT_TRUE(message) << message << json;
    EXPECT_EQ(message->any().type_url(), "a/corolane.test.Everything");
    Everything read;
    ASSERT_TRUE(message->any().UnpackTo(&read));
    expect_equal(read, content, json);
  } while (std::ranges::next_permutation(members).found);
}

TEST(JsonAnyTest, AValueThatIsLeftAwayIsTheDefault) {
  for (const char* type : {"Int32Value", "StringValue", "Timestamp", "Duration", "FieldMask",
                           "Struct", "ListValue", "Any", "Empty"}) {
    const std::string name = "google.protobuf." + std::string(type);
    const auto message = read_anything(R"({"any":{"unknown":1,"@type":"a/)" + name + R"("}})");
    ASSERT_TRUE(message) << message;
    EXPECT_EQ(message->any().type_url(), "a/" + name);
    EXPECT_EQ(message->any().value(), "");
  }
  EXPECT_EQ(refusal_of_anything(R"({"any":{"@type":"a/google.protobuf.Value"}})"),
            "any: expects \"value\"");
}

TEST(JsonAnyTest, ARefusalNamesThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"any":1})", "any: expects an object, not 1"},
      {R"({"any":[]})", "any: expects a google.protobuf.Any, not an array"},
      {R"({"anys":[{},null]})", "anys[1]: null is not allowed here"},
      {R"({"any":{},"any":{}})", "any: is set twice"},
      {R"({"any":{"@type":7}})", "any.@type: expects a string, not 7"},
      {R"({"any":{"@type":{}}})", "any.@type: expects string, not an object"},
      {R"({"any":{"@type":null}})", "any.@type: expects the URL of a known type, not \"\""},
      {R"({"any":{"@type":"","value":""}})",
       "any.@type: expects the URL of a known type, not \"\""},
      {R"({"any":{"@type":"corolane.test.Everything"}})",
       "any.@type: expects the URL of a known type, not \"corolane.test.Everything\""},
      {R"({"anys":[{"@type":"a/b.C"}]})",
       "anys[0].@type: expects the URL of a known type, not \"a/b.C\""},
      {R"({"any":{"x":1,"@type":"a/b.C"}})",
       "any.@type: expects the URL of a known type, not \"a/b.C\""},
      {R"({"any":{"@type":"a/corolane.test.Everything/"}})", "any.@type: expects the URL"},
      {R"({"any":{"@type":"a/corolane.test.Colour"}})", "any.@type: expects the URL"},
      {R"({"any":{"@type":"a/corolane.test.Everything.ByNameEntry"}})",
       "any.@type: expects the URL"},
      {R"({"any":{"x":1}})", "any: expects \"@type\" with the URL of a type"},
      {R"({"any":{"x":1,"@type":2}})", "any: expects \"@type\" with the URL of a type"},
      {R"({"any":{"x":1,"@type":"\udd39/corolane.test.Everything"}})",
       "any: expects \"@type\" with the URL of a type"},
      {R"({"any":{"@type":"a/google.protobuf.Empty","@type":"a/google.protobuf.Empty"}})",
       "any.@type: is set twice"},
      {R"({"any":{"x":1,"@type":"a/google.protobuf.Empty","@type":"a/google.protobuf.Empty"}})",
       "any.@type: is set twice"},
      {R"({"any":{"@type":"a/google.protobuf.Duration","value":"1s","value":"1s"}})",
       "any.value: is set twice"},
      {R"({"any":{"@type":"a/google.protobuf.Duration","value":"1m"}})",
       "any.value: expects a google.protobuf.Duration, not \"1m\""},
      {R"({"any":{"value":"1m","@type":"a/google.protobuf.Duration"}})",
       "any.value: expects a google.protobuf.Duration, not \"1m\""},
      {R"({"any":{"@type":"a/google.protobuf.Int32Value","value":null}})",
       "any.value: expects a google.protobuf.Int32Value, not null"},
      {R"({"any":{"@type":"a/google.protobuf.Struct","value":[]}})",
       "any.value: expects a google.protobuf.Struct, not an array"},
      {R"({"any":{"@type":"a/google.protobuf.ListValue","value":{}}})",
       "any.value: expects an array, not an object"},
      {R"({"any":{"@type":"a/google.protobuf.Any","value":{"@type":"a/b.C"}}})",
       "any.value.@type: expects the URL of a known type, not \"a/b.C\""},
      {R"({"any":{"@type":"a/corolane.test.Everything","children":[{"anInt32":"many"}]}})",
       "any.children[0].anInt32: expects an int32, not \"many\""},
      {R"({"any":{"@type":"a/corolane.test.Anything","byName":{"x":{"@type":"y"}}}})",
       "any.byName[\"x\"].@type: expects the URL of a known type, not \"y\""},
      {R"({"any":{"@type":"a/google.protobuf.FieldOptions","ctype":77}})",
       "any.ctype: expects a value of google.protobuf.FieldOptions.CType, not 77"},
      {R"({"any":{"x":1,)", "invalid JSON at byte 14"},
      {R"({"any":{"x":1,"@type":"a/google.protobuf.Empty"})", "invalid JSON"},
  };
  for (const auto& [json, expected] : cases) {
    EXPECT_THAT(refusal_of_anything(json), HasSubstr(expected)) << json;
  }
}

TEST(JsonAnyTest, NullLeavesAnAnyUnset) {
  const auto message = read_anything(R"({"any":null,"anys":null,"chosenAny":null})");
  ASSERT_TRUE(message) << message;
  EXPECT_EQ(message->ByteSizeLong(), 0U);
  EXPECT_TRUE(read_anything(R"({"any":{}})")->has_any());
}

// Nests Anys in each other. The innermost is empty and lies `depth` deep.
std::string nested_anys(std::size_t depth, bool is_type_last) {
  const std::string type = R"("@type":"a/google.protobuf.Any")";
  const std::string open = is_type_last ? "{\"value\":" : "{" + type + ",\"value\":";
  return times(depth - 1, open) + "{}" + times(depth - 1, is_type_last ? "," + type + "}" : "}");
}

TEST(JsonAnyTest, NestedAnysHaveTheLimitOfAllNesting) {
  rpc::JsonReader reader;
  const std::string expected = nested_anys(rpc::json_depth_max, false);
  for (const bool is_type_last : {false, true}) {
    pb::Any any;
    const auto read = reader.read(nested_anys(rpc::json_depth_max, is_type_last), any);
    ASSERT_TRUE(read) << read;
    EXPECT_EQ(json_of(any), expected);
    EXPECT_THAT(json_of(any_of(any)), HasSubstr("it is nested too deeply"));
    for (const std::size_t depth : {rpc::json_depth_max + 1, std::size_t{100'000}}) {
      pb::Any too_deep;
      const auto refused = reader.read(nested_anys(depth, is_type_last), too_deep);
      ASSERT_THAT(refused, fails_with(Code::invalid_argument));
      EXPECT_THAT(refused.error().message(), HasSubstr("nested too deeply"));
    }
  }
}

TEST(JsonAnyTest, AContentIsNoDeeperThanProtobufCanParse) {
  struct Shape {
    std::string begin;
    std::string open;
    std::string innermost;
    std::string close;
    std::string end;
  };
  const Shape shapes[] = {
      {R"({"@type":"a/google.protobuf.Struct","value":)", R"({"a":)", "{}", "}", "}"},
      {R"({"@type":"a/google.protobuf.Value","value":)", "[", "[]", "]", "}"},
      {R"({"@type":"a/corolane.test.Everything","tree":)", R"({"a":{"tree":)", R"({"a":{}})", "}}",
       "}"},
      {R"({"@type":"a/corolane.test.Everything","child":)", R"({"child":)", "{}", "}", "}"},
  };
  for (const Shape& shape : shapes) {
    std::size_t deepest = 0;
    for (std::size_t depth = 0; depth < rpc::json_depth_max; ++depth) {
      const std::string json = shape.begin + times(depth, shape.open) + shape.innermost +
                               times(depth, shape.close) + shape.end;
      pb::Any any;
      const auto read = rpc::JsonReader().read(json, any);
      if (read) {
        deepest = depth;
        ASSERT_EQ(json_of(any), json);
      } else {
        ASSERT_THAT(read.error().message(), HasSubstr("nested too deeply"));
      }
    }
    EXPECT_GE(deepest, 30U) << shape.begin;
    EXPECT_LT(deepest, rpc::json_depth_max - 1) << shape.begin;
  }
}

TEST(JsonAnyTest, AnAnyThatJsonCannotCarryIsNotWritten) {
  Anything message;
  pb::Any& any = *message.mutable_child()->add_anys();
  any.set_type_url("a/b.C");
  const std::string where = "corolane.test.Anything.child.anys cannot be written as JSON: ";
  EXPECT_EQ(json_of(message), where + "the type of an Any is unknown: a/b.C");
  any.set_type_url("a/google.protobuf.Duration");
  any.set_value("\xff");
  EXPECT_EQ(json_of(message), where + "the bytes of an Any are not a google.protobuf.Duration");
  any.set_type_url("");
  EXPECT_EQ(json_of(message), where + "the type of an Any is unknown: ");
  any.set_type_url("\xff");
  EXPECT_EQ(json_of(message), where + "a string is not UTF-8");
  any = any_of(pb::Value());
  EXPECT_EQ(json_of(message), where + "a google.protobuf.Value is empty");
  Everything no_time;
  no_time.mutable_child()->mutable_timestamp()->set_nanos(-1);
  any = any_of(no_time);
  EXPECT_EQ(
      json_of(message),
      "corolane.test.Anything.child.anys.child.timestamp cannot be written as JSON: it is not "
      "a valid google.protobuf.Timestamp");
}

TEST(JsonAnyTest, AWriterThatFailedWritesTheNextMessage) {
  rpc::JsonWriter writer;
  Anything bad;
  *bad.mutable_any() = any_of(wrapped<pb::Int32Value>(1));
  bad.mutable_child()->mutable_any()->set_type_url("a/b.C");
  pb::Any outer = any_of(bad);
  std::string json;
  EXPECT_THAT(writer.write(outer, json), fails_with(Code::invalid_argument));
  json.clear();
  ASSERT_TRUE(writer.write(any_of(pb::Empty()), json));
  EXPECT_EQ(json, R"({"@type":"type.googleapis.com/google.protobuf.Empty"})");
}

TEST(JsonAnyTest, AMessageIsUnchangedByItsWriting) {
  Anything inner;
  *inner.mutable_any() = wrapped<pb::Int32Value>(1);
  Anything message;
  *message.mutable_any() = any_of(any_of(inner));
  const Anything before = message;
  rpc::JsonWriter writer;
  std::string first;
  ASSERT_TRUE(writer.write(message, first));
  expect_equal(message, before, first);
  EXPECT_EQ(json_of(message), first);
}

// A pool with the file of a message and with those that it imports.
void add_file(pb::DescriptorPool& pool, const pb::FileDescriptor& file) {
  if (pool.FindFileByName(file.name()) != nullptr) return;
  for (int i = 0; i < file.dependency_count(); ++i) add_file(pool, *file.dependency(i));
  pb::FileDescriptorProto description;
  file.CopyTo(&description);
  ASSERT_NE(pool.BuildFile(description), nullptr) << file.name();
}

TEST(JsonAnyTest, TypesOfADynamicMessageAreThoseOfItsPool) {
  pb::DescriptorPool pool;
  add_file(pool, *Anything::descriptor()->file());
  pb::FileDescriptorProto own;
  own.set_name("own.proto");
  own.set_package("own");
  own.set_syntax("proto3");
  auto& type = *own.add_message_type();
  type.set_name("Type");
  auto& field = *type.add_field();
  field.set_name("a_number");
  field.set_number(1);
  field.set_type(pb::FieldDescriptorProto::TYPE_INT32);
  field.set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
  ASSERT_NE(pool.BuildFile(own), nullptr);
  pb::DynamicMessageFactory factory(&pool);
  const auto* const anything = pool.FindMessageTypeByName("corolane.test.Anything");

  const std::string json =
      R"({"any":{"@type":"a/own.Type","aNumber":7},)"
      R"("anys":[{"@type":"a/google.protobuf.Any","value":{"@type":"a/google.protobuf.Duration",)"
      R"("value":"2s"}},{"@type":"a/corolane.test.Everything","value":[1]}]})";
  const std::unique_ptr<pb::Message> message(factory.GetPrototype(anything)->New());
  const auto read = rpc::JsonReader().read(json, *message);
  ASSERT_TRUE(read) << read;
  EXPECT_EQ(json_of(*message), json);
  EXPECT_THAT(refusal_of_anything(json), HasSubstr("any.@type: expects the URL of a known type"));
}

}  // namespace
}  // namespace corolane::test
