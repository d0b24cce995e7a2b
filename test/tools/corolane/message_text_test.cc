// SPDX-License-Identifier: MIT
// The text of types, and examples that can be sent.
#include "tools/corolane/message_text.h"

#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/tools/corolane/echo.pb.h"
#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {
namespace {

TEST(MessageTextTest, EveryKindOfFieldIsShownAsInAProto) {
  const RemoteTypes types;

  EXPECT_EQ(FieldsText(types).of(*cli_test::Everything::descriptor()),
            "  is_first: optional bool\n"
            "  raw: bytes\n"
            "  ratios: repeated double\n"
            "  voices: map<bool, VOICE_UNSPECIFIED|LOUD|SOFT>\n"
            "  nothings: map<uint64, Nothing>\n"
            "  inner: Everything, as above\n"
            "  others: repeated Everything, as above\n"
            "  one of these, what:\n"
            "    name: string\n"
            "    number: int64\n"
            "  since: google.protobuf.Timestamp\n"
            "  pause: google.protobuf.Duration\n"
            "  wrapped: google.protobuf.StringValue\n"
            "  value: google.protobuf.Value\n"
            "  values: google.protobuf.ListValue\n"
            "  object: google.protobuf.Struct\n"
            "  nothing: google.protobuf.Empty\n");
}

TEST(MessageTextTest, ATypeIsShownOnce) {
  const RemoteTypes types;
  FieldsText fields(types);

  EXPECT_EQ(fields.of(*cli_test::SayReply::descriptor()),
            "  said: SayRequest\n"
            "    text: string\n"
            "    listeners: repeated Listener\n"
            "      name: string\n"
            "    spoken_as: VOICE_UNSPECIFIED|LOUD|SOFT\n"
            "    counts: map<string, int32>\n"
            "    at: fixed64\n");
  EXPECT_EQ(fields.of(*cli_test::SayReply::descriptor()), "  fields as above\n");
}

TEST(MessageTextTest, CommentsStandAboveTheirFields) {
  rpc::DescribeReply description;
  rpc::Comment& comment = *description.add_comments();
  comment.set_symbol("corolane.cli_test.SayReply.said");
  comment.set_text("The text that was said.\n\nNot\x1b[2J more.");
  RemoteTypes types;
  ASSERT_TRUE(types.add(description));
  FieldsText fields(types);

  const std::string text = fields.of(*cli_test::SayReply::descriptor());

  EXPECT_EQ(text.substr(0, text.find("    text")),
            "  // The text that was said.\n"
            "  //\n"
            "  // Not\\x1b[2J more.\n"
            "  said: SayRequest\n");
}

TEST(MessageTextTest, AnExampleFits) {
  for (const auto* type :
       {cli_test::Everything::descriptor(), cli_test::SayRequest::descriptor(),
        cli_test::SayReply::descriptor(), google::protobuf::Empty::descriptor()}) {
    const std::string example = example_json(*type);
    google::protobuf::DynamicMessageFactory factory;
    const std::unique_ptr<google::protobuf::Message> message(factory.GetPrototype(type)->New());
    const auto read = read_json(example, *message);
    EXPECT_TRUE(read) << read << "\n" << example;
  }
}

TEST(MessageTextTest, AnExampleHasEveryFieldThatCanHaveAValue) {
  EXPECT_EQ(example_json(*cli_test::SayReply::descriptor()), R"({
  "said": {
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
  }
})");
}

TEST(MessageTextTest, AnExampleEndsWhereATypeHoldsItself) {
  const std::string example = example_json(*cli_test::Everything::descriptor());

  EXPECT_FALSE(example.contains("inner"));
  EXPECT_FALSE(example.contains("others"));
  EXPECT_TRUE(example.contains("\"name\": \"\"")) << "the first of the oneof";
  EXPECT_FALSE(example.contains("number"));
}

}  // namespace
}  // namespace corolane::tools::cli
