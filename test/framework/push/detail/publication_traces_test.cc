// SPDX-License-Identifier: MIT
// The traces of publications inside a shard and on the wire.
#include "framework/push/detail/publication_traces.h"

#include <gmock/gmock.h>
#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/push/detail/topic.h"
#include "framework/wire/push.pb.h"

namespace corolane::framework::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Broadcast::Message text_message(const std::string& text) {
  auto message = std::make_shared<google::protobuf::StringValue>();
  message->set_value(text);
  return message;
}

PublicationTrace trace_with(std::uint64_t span_id) {
  return std::make_shared<const rpc::TraceContext>(
      rpc::TraceContext{.trace_id = {std::byte{7}}, .span_id = span_id, .is_sampled = true});
}

// The batch of the reader as it goes to another node.
PublicationBatch on_the_wire(Broadcast::Reader& reader) {
  std::uint64_t serialised_count = 0;
  const auto batch = reader.poll_batch(&serialised_count);
  EXPECT_TRUE(batch && *batch);
  PublicationBatch message;
  for (const auto& bytes : (*batch)->bytes) message.add_messages(*bytes);
  add_traces(**batch, message);
  return message;
}

std::vector<std::size_t> indexes_of(const PublicationBatch& batch) {
  std::vector<std::size_t> indexes;
  for (const auto& traced : traces_of(batch)) indexes.push_back(traced.index);
  return indexes;
}

class PublicationTracesTest : public testing::Test {
 protected:
  PublicationTracesTest() { EXPECT_TRUE(reader_.next(Deadline::passed())); }

  Topic topic_{{.epoch = 1, .sequence = 0}};
  Broadcast::Reader reader_ = topic_.read();
};

TEST_F(PublicationTracesTest, OnlyTracedPublicationsSendATrace) {
  topic_.publish(text_message("a"), /*is_held=*/false);
  topic_.publish(text_message("b"), /*is_held=*/false, trace_with(9));
  topic_.publish(text_message("c"), /*is_held=*/false);
  const PublicationBatch batch = on_the_wire(reader_);
  EXPECT_EQ(batch.messages_size(), 3);
  const auto traces = traces_of(batch);
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].index, 1u);
  EXPECT_EQ(*traces[0].trace, *trace_with(9));
}

TEST_F(PublicationTracesTest, AnUntracedPublicationSendsNothingMore) {
  for (int i = 0; i < 10; ++i) topic_.publish(text_message("a"), /*is_held=*/false);
  const PublicationBatch batch = on_the_wire(reader_);
  PublicationBatch bare;
  for (const std::string& message : batch.messages()) bare.add_messages(message);
  EXPECT_EQ(batch.SerializeAsString(), bare.SerializeAsString());
}

TEST_F(PublicationTracesTest, AHeldPublicationKeepsItsTrace) {
  topic_.publish(text_message("a"), /*is_held=*/true);
  topic_.publish(text_message("b"), /*is_held=*/true, trace_with(9));
  const Position second = topic_.position();
  topic_.publish(text_message("c"), /*is_held=*/true, trace_with(10));
  topic_.release(second);
  const PublicationBatch first = on_the_wire(reader_);
  EXPECT_THAT(indexes_of(first), ElementsAre(1u));
  topic_.publish(text_message("d"), /*is_held=*/false, trace_with(11));
  topic_.release();
  const auto rest = traces_of(on_the_wire(reader_));
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].trace->span_id, 10u);
  EXPECT_EQ(rest[1].trace->span_id, 11u);
}

TEST_F(PublicationTracesTest, ATraceThatIsTakenBackIsGone) {
  const Position before = topic_.position();
  topic_.publish(text_message("a"), /*is_held=*/true, trace_with(9));
  topic_.take_back(before);
  topic_.publish(text_message("b"), /*is_held=*/false);
  EXPECT_THAT(indexes_of(on_the_wire(reader_)), IsEmpty());
}

TEST_F(PublicationTracesTest, WhatIsMalformedIsLeftOut) {
  PublicationBatch batch;
  const auto add = [&](std::uint32_t index, const std::string& trace_id, std::uint64_t span_id) {
    PublicationTraceContext& added = *batch.add_traces();
    added.set_index(index);
    added.set_trace_id(trace_id);
    added.set_span_id(span_id);
  };
  const std::string id(16, '\7');
  add(0, id, 9);
  EXPECT_THAT(traces_of(batch), IsEmpty()) << "there is no message";
  for (int i = 0; i < 4; ++i) batch.add_messages("message");
  add(1, "", 9);
  add(1, std::string(15, '\7'), 9);
  add(1, std::string(17, '\7'), 9);
  add(1, std::string(16, '\0'), 9);
  add(1, id, 0);
  add(0, id, 10);
  add(4, id, 9);
  add(0xffff'ffff, id, 9);
  add(3, id, 11);
  add(2, id, 9);
  add(3, id, 9);
  const auto traces = traces_of(batch);
  EXPECT_THAT(indexes_of(batch), ElementsAre(0u, 3u));
  EXPECT_EQ(traces[0].trace->span_id, 9u) << "the first of an index";
  EXPECT_EQ(traces[1].trace->span_id, 11u);
  EXPECT_TRUE(traces[1].trace->is_sampled);
}

}  // namespace
}  // namespace corolane::framework::detail
