// SPDX-License-Identifier: MIT
#include "rpc/wire/request_extension.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "coroutine/testing/random.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc {
namespace {

RequestExtension read(std::string_view bytes) {
  RequestExtension extension;
  EXPECT_TRUE(extension.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  // The quick reader reads the same, whatever was read before.
  RequestExtension again;
  again.set_trace_id_low(3);
  again.mutable_object()->set_request_scope("before");
  again.mutable_object()->add_chain()->set_id("before");
  again.mutable_principal()->set_id("before");
  again.add_headers()->set_name("before");
  EXPECT_TRUE(read_extension(bytes, again));
  EXPECT_EQ(again.SerializeAsString(), extension.SerializeAsString());
  // And the quick writer writes what protobuf writes.
  EXPECT_EQ(extension.SerializeAsString(), bytes);
  return extension;
}

TEST(RequestExtensionTest, AnEmptyExtensionTakesNoBytes) {
  EXPECT_TRUE(ExtensionBytes({}, nullptr, nullptr).view().empty());
  EXPECT_EQ(ReceivedTarget(RequestExtension(), Door::nodes).get(), nullptr);
}

TEST(RequestExtensionTest, AnObjectIsReadAsItWasWritten) {
  const auto chain = std::to_array<ObjectCall>(
      {{.method = "test.Player/Walk", .id = "ada"}, {.method = "test.Room/Enter", .id = ""}});
  const ObjectTarget sent = {.id = std::string_view("a\0\xff", 3),
                             .node_epoch = 0xfedcba9876543210,
                             .partition_epoch = 1,
                             .request_id = {.caller = "match 7", .sequence = 300},
                             .chain = chain};
  const RequestExtension extension = read(ExtensionBytes({}, nullptr, &sent).view());
  const ReceivedTarget received(extension, Door::nodes);

  ASSERT_NE(received.get(), nullptr);
  const ObjectTarget& target = *received.get();
  EXPECT_EQ(target.id, sent.id);
  EXPECT_EQ(target.node_epoch, 0xfedcba9876543210);
  EXPECT_EQ(target.partition_epoch, 1u);
  EXPECT_EQ(target.request_id.caller, "match 7");
  EXPECT_EQ(target.request_id.sequence, 300u);
  ASSERT_EQ(target.chain.size(), 2u);
  EXPECT_EQ(target.chain[0].method, "test.Player/Walk");
  EXPECT_EQ(target.chain[0].id, "ada");
  EXPECT_EQ(target.chain[1].method, "test.Room/Enter");
  EXPECT_EQ(target.chain[1].id, "");
}

TEST(RequestExtensionTest, NeitherEpochsNorAChainAreTakenFromAClient) {
  const auto chain = std::to_array<ObjectCall>({{.method = "test.Room/Enter", .id = "7"}});
  const ObjectTarget sent = {.id = "ada",
                             .node_epoch = 1,
                             .partition_epoch = 2,
                             .request_id = {.caller = "match 7", .sequence = 300},
                             .chain = chain};
  const RequestExtension extension = read(ExtensionBytes({}, nullptr, &sent).view());
  const ReceivedTarget received(extension, Door::clients);

  ASSERT_NE(received.get(), nullptr);
  EXPECT_EQ(received.get()->id, "ada");
  EXPECT_EQ(received.get()->node_epoch, 0u);
  EXPECT_EQ(received.get()->partition_epoch, 0u);
  EXPECT_TRUE(received.get()->chain.empty());
  EXPECT_EQ(received.get()->request_id.caller, "match 7");
  EXPECT_EQ(received.get()->request_id.sequence, 300u);
}

TEST(RequestExtensionTest, AnEmptyObjectTargetIsStillATarget) {
  const ObjectTarget unknown = {.id = ""};
  const RequestExtension extension = read(ExtensionBytes({}, nullptr, &unknown).view());
  const ReceivedTarget received(extension, Door::nodes);

  ASSERT_NE(received.get(), nullptr);
  EXPECT_EQ(received.get()->id, "");
  EXPECT_FALSE(received.get()->request_id);
  EXPECT_TRUE(received.get()->chain.empty());
}

TEST(RequestExtensionTest, TracePrincipalAndObjectTravelTogether) {
  TraceContext trace = {.span_id = 7, .is_sampled = true};
  trace.trace_id.back() = std::byte{1};
  const ObjectTarget object = {.id = "visits"};

  const Principal player = {.id = "player-17", .roles = {"player", "admin"}};

  const RequestExtension extension = read(ExtensionBytes(trace, &player, &object).view());

  EXPECT_EQ(trace_of(extension), trace);
  EXPECT_EQ(principal_of(extension), player);
  EXPECT_EQ(ReceivedTarget(extension, Door::nodes).get()->id, "visits");
}

TEST(RequestExtensionTest, ThePrincipalOfOneCallIsNotThatOfTheNext) {
  const ObjectTarget object = {.id = "visits"};
  const Principal first = {.id = "player-17", .roles = {"player", "admin"}};
  const Principal second = {.id = "player-18", .roles = {"player"}};
  const Principal nobody;

  EXPECT_EQ(principal_of(read(ExtensionBytes({}, &first, &object).view())), first);
  EXPECT_EQ(principal_of(read(ExtensionBytes({}, &second, &object).view())), second);
  EXPECT_TRUE(principal_of(read(ExtensionBytes({}, nullptr, &object).view())).is_anonymous());
  EXPECT_TRUE(principal_of(read(ExtensionBytes({}, &nobody, &object).view())).is_anonymous());
  EXPECT_TRUE(ExtensionBytes({}, &nobody, nullptr).view().empty());
}

TEST(RequestExtensionTest, HeadersScopeAndPrincipalTravelTogether) {
  Headers headers;
  headers.add("season", "7");
  headers.add("empty", "");
  const ObjectTarget object = {.id = "visits",
                               .request_id = {.caller = "ada", .sequence = 1, .scope = "client"}};
  const Principal player = {.id = "player-17", .roles = {"player", ""}};

  const RequestExtension extension = read(ExtensionBytes({}, &player, &object, &headers).view());

  EXPECT_EQ(principal_of(extension), player);
  EXPECT_EQ(ReceivedTarget(extension, Door::nodes).get()->request_id, object.request_id);
  Headers received;
  read_headers(extension, received);
  EXPECT_EQ(received, headers);
}

TEST(RequestExtensionTest, FieldsOfALaterVersionAreSkipped) {
  const ObjectTarget object = {.id = "visits", .node_epoch = 5};
  const std::string bytes = std::string(ExtensionBytes({}, nullptr, &object).view()) +
                            std::string("\x7a\x02hi\xa8\x06\x01", 7);
  RequestExtension extension;
  ASSERT_TRUE(read_extension(bytes, extension));
  EXPECT_EQ(ReceivedTarget(extension, Door::nodes).get()->id, "visits");
  EXPECT_EQ(ReceivedTarget(extension, Door::nodes).get()->node_epoch, 5u);
}

TEST(RequestExtensionTest, WhatProtobufRefusesIsRefused) {
  TraceContext trace = {.span_id = 7, .is_sampled = true};
  trace.trace_id.back() = std::byte{1};
  const ObjectTarget object = {.id = "visits", .request_id = {.caller = "ada", .sequence = 300}};
  const Principal player = {.id = "player-17", .roles = {"player"}};
  const ExtensionBytes whole(trace, &player, &object);
  for (std::size_t size = 0; size < whole.view().size(); ++size) {
    const std::string bytes(whole.view().substr(0, size));
    RequestExtension extension;
    RequestExtension expected;
    const bool is_valid = expected.ParseFromString(bytes);
    EXPECT_EQ(read_extension(bytes, extension), is_valid) << size;
    if (!is_valid) continue;
    EXPECT_EQ(extension.SerializeAsString(), expected.SerializeAsString()) << size;
  }
}

TEST(RequestExtensionTest, AnyBytesMeanWhatTheyMeanToProtobuf) {
  test::Random random;
  const ObjectTarget object = {.id = "visits",
                               .node_epoch = 5,
                               .partition_epoch = 6,
                               .request_id = {.caller = "ada", .sequence = 300, .scope = "s"}};
  const Principal player = {.id = "player-17", .roles = {"player"}};
  const std::string valid(ExtensionBytes({}, &player, &object).view());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = valid;
    for (int changes = 0; changes < 3; ++changes) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    RequestExtension extension;
    RequestExtension expected;
    const bool is_valid = expected.ParseFromString(bytes);
    ASSERT_EQ(read_extension(bytes, extension), is_valid) << i;
    if (!is_valid) continue;
    ASSERT_EQ(ReceivedTarget(extension, Door::nodes).get() == nullptr,
              ReceivedTarget(expected, Door::nodes).get() == nullptr);
    ASSERT_EQ(extension.SerializeAsString(), expected.SerializeAsString()) << i;
  }
}

// Covers the size at which the bytes move to the heap.
TEST(RequestExtensionTest, AnIdOfAnyLengthIsWrittenAsProtobufWritesIt) {
  TraceContext trace;
  trace.trace_id.fill(std::byte{0xff});
  trace.span_id = ~std::uint64_t{0};
  trace.is_sampled = true;
  for (std::size_t size = 0; size <= 140; ++size) {
    const std::string id(size, 'i');
    const ObjectTarget target = {
        .id = id,
        .node_epoch = ~std::uint64_t{0},
        .partition_epoch = ~std::uint64_t{0},
        .request_id = {.caller = "ada", .sequence = ~std::uint64_t{0}, .scope = "s"}};
    const RequestExtension extension = read(ExtensionBytes(trace, nullptr, &target).view());
    EXPECT_EQ(extension.object().id(), id);
    EXPECT_EQ(extension.object().request_sequence(), ~std::uint64_t{0});
    EXPECT_EQ(trace_of(extension), trace);
  }
}

TEST(RequestExtensionTest, AnObjectMayHaveALongId) {
  for (std::size_t size = 0; size < 400; ++size) {
    const std::string id(size, 'x');
    const ObjectTarget object = {.id = id};
    const ExtensionBytes bytes({}, nullptr, &object);
    const RequestExtension extension = read(bytes.view());
    EXPECT_EQ(ReceivedTarget(extension, Door::nodes).get()->id, id);
  }
}

}  // namespace
}  // namespace corolane::rpc
