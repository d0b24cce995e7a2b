// SPDX-License-Identifier: MIT
// The description that a server gives of itself is enough to rebuild its types.
#include "rpc/reflection/reflection.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "rpc/wire/frame.h"
#include "test/rpc/codegen/diary.corolane.h"
#include "test/rpc/codegen/notebook.pb.h"

namespace corolane::rpc {
namespace {

// A service that was not generated from a linked proto.
class HandmadeService : public Service {
 public:
  const char* service_name() const override { return "handmade.Thing"; }
  std::span<const Method> methods() const override { return {&method_, 1}; }

 private:
  Method method_ = {.full_name = "handmade.Thing/Do",
                    .id = 17,
                    .timeout = std::chrono::microseconds(1500),
                    .stack_size_bytes = 64 * 1024,
                    .priority = Priority::login,
                    .one_way = true,
                    .is_public = true,
                    .read_only = true,
                    .new_request = nullptr,
                    .invoke = nullptr};
};

class ReflectionTest : public testing::Test {
 protected:
  ReflectionTest() {
    EXPECT_TRUE(server_.add(handmade_));
    EXPECT_TRUE(server_.add(reflection_.emplace(server_)));
  }

  Result<DescribeReply> describe(const std::string& symbol) {
    DescribeRequest request;
    request.set_symbol(symbol);
    return reflection_->describe(request, context_);
  }

  sim::SimulatedNetwork network_;
  HandmadeService handmade_;
  std::optional<ReflectionService> reflection_;
  Server server_{network_};
  const Method method_{.full_name = "test", .id = 1, .timeout = {}, .stack_size_bytes = 0};
  const ListServicesRequest request_;
  const Context::Facts facts_;
  Context context_{method_, request_, facts_};
};

TEST_F(ReflectionTest, ServicesAreListedByNameWithTheirMethodsAndTypes) {
  const auto reply = reflection_->list_services({}, context_);

  ASSERT_TRUE(reply) << reply;
  ASSERT_EQ(reply->services_size(), 2);
  const ServiceEntry& service = reply->services(0);
  EXPECT_EQ(service.name(), "corolane.rpc.Reflection");
  ASSERT_EQ(service.methods_size(), 2);
  EXPECT_EQ(service.methods(1).full_name(), "corolane.rpc.Reflection/Describe");
  EXPECT_EQ(service.methods(1).request_type(), "corolane.rpc.DescribeRequest");
  EXPECT_EQ(service.methods(1).reply_type(), "corolane.rpc.DescribeReply");
  EXPECT_EQ(service.methods(1).timeout_ms(), 10'000);
}

TEST_F(ReflectionTest, AServiceWithoutAProtoIsListedWithoutTypes) {
  const auto reply = reflection_->list_services({}, context_);

  ASSERT_TRUE(reply) << reply;
  const ServiceEntry& service = reply->services(1);
  EXPECT_EQ(service.name(), "handmade.Thing");
  ASSERT_EQ(service.methods_size(), 1);
  EXPECT_EQ(service.methods(0).full_name(), "handmade.Thing/Do");
  EXPECT_EQ(service.methods(0).request_type(), "");
  EXPECT_EQ(service.methods(0).timeout_ms(), 2) << "rounded up";
  EXPECT_TRUE(service.methods(0).public_());
  EXPECT_TRUE(service.methods(0).one_way());
  EXPECT_TRUE(service.methods(0).read_only());
  EXPECT_FALSE(service.methods(0).durable());
  EXPECT_EQ(service.object_state(), "");
  EXPECT_EQ(service.methods(0).priority(), "login");
}

class Envelope : public codegen_test::EnvelopeOfNoReturnObject {
 public:
  Result<codegen_test::stationery::Article::Price> put_inside(
      const codegen_test::stationery::Article& request, Context&) override {
    return request.price();
  }
};

TEST_F(ReflectionTest, AServiceOfObjectsIsListedWithItsState) {
  Envelope envelope;
  Server server(network_);
  ASSERT_TRUE(server.add(envelope));
  ReflectionService reflection(server);

  const auto reply = reflection.list_services({}, context_);

  ASSERT_TRUE(reply) << reply;
  ASSERT_EQ(reply->services_size(), 1);
  EXPECT_EQ(reply->services(0).object_state(), "stationery.Article.Price");
  EXPECT_TRUE(reply->services(0).methods(0).durable());
  EXPECT_FALSE(reply->services(0).methods(0).read_only());
}

TEST_F(ReflectionTest, AFileComesAfterThoseThatItImports) {
  const auto reply = describe(codegen_test::Note::descriptor()->full_name());

  ASSERT_TRUE(reply) << reply;
  google::protobuf::DescriptorPool pool;
  std::vector<std::string> names;
  for (const std::string& bytes : reply->files()) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(bytes));
    ASSERT_NE(pool.BuildFile(file), nullptr) << file.name();
    names.push_back(file.name());
  }
  EXPECT_THAT(
      names, testing::ElementsAre("google/protobuf/empty.proto", "google/protobuf/descriptor.proto",
                                  "rpc/options.proto", "test/rpc/codegen/stationery/paper.proto",
                                  "test/rpc/codegen/notebook.proto"));
  EXPECT_NE(pool.FindServiceByName("corolane.codegen_test.Notebook"), nullptr);
}

TEST_F(ReflectionTest, AServiceIsDescribedByItsFile) {
  const auto reply = describe("corolane.rpc.Reflection");

  ASSERT_TRUE(reply) << reply;
  ASSERT_EQ(reply->files_size(), 3);
  google::protobuf::FileDescriptorProto file;
  ASSERT_TRUE(file.ParseFromString(reply->files(2)));
  EXPECT_EQ(file.name(), "rpc/reflection/reflection.proto");
  ASSERT_EQ(file.service_size(), 1);
  EXPECT_EQ(file.service(0).name(), "Reflection");
}

TEST_F(ReflectionTest, CommentsAreThoseOfAServedServiceAndOfItsMessages) {
  const auto served = describe("corolane.rpc.Reflection");
  const auto unserved = describe("corolane.codegen_test.Notebook");

  ASSERT_TRUE(served && unserved);
  std::map<std::string, std::string> comments;
  for (const Comment& comment : served->comments()) comments[comment.symbol()] = comment.text();
  EXPECT_EQ(comments.at("corolane.rpc.Reflection.ListServices"),
            "Lists the services of this server with the methods that the caller may call.");
  EXPECT_EQ(comments.at("corolane.rpc.ServiceEntry.methods"), "In the order of the file.");
  EXPECT_FALSE(comments.contains("corolane.rpc.ListServicesRequest"));
  EXPECT_TRUE(unserved->comments().empty());
}

TEST_F(ReflectionTest, AnUnknownSymbolIsNotFound) {
  EXPECT_THAT(describe("corolane.Nothing"), test::fails_with(Code::not_found));
  EXPECT_THAT(describe(""), test::fails_with(Code::not_found));
}

TEST_F(ReflectionTest, AClientCallsItLikeAnyService) {
  ASSERT_TRUE(server_.listen({"10.0.0.1", 8460}, {.door = rpc::Door::nodes}));
  const auto client =
      Client::connect(network_, {"10.0.0.1", 8460}, Deadline::after(std::chrono::seconds(1)));
  ASSERT_TRUE(client) << client;

  const auto reply = ReflectionClient(**client).list_services({});

  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->services_size(), 2);
}

// Has the name of a linked service, but no handlers.
class NamedService : public Service {
 public:
  NamedService(const char* name, std::vector<Method> methods)
      : name_(name), methods_(std::move(methods)) {}

  const char* service_name() const override { return name_; }
  std::span<const Method> methods() const override { return methods_; }
  std::span<const SymbolComment> comments() const override { return comments_; }

 private:
  static constexpr std::array<SymbolComment, 4> comments_ = {
      {{.symbol = "corolane.codegen_test.Diary.Read", .text = "Public."},
       {.symbol = "corolane.codegen_test.Diary.Write", .text = "Hidden."},
       {.symbol = "corolane.codegen_test.Entry.Number.number", .text = "From 1."},
       {.symbol = "corolane.codegen_test.Binding.Pages", .text = "Kept."}}};

  const char* name_;
  std::vector<Method> methods_;
};

Method named(const char* full_name, bool is_public) {
  return {.full_name = full_name,
          .id = method_id(full_name),
          .timeout = std::chrono::seconds(1),
          .stack_size_bytes = 64 * 1024,
          .is_public = is_public};
}

// One method is public, in one of two services of the same file.
class ReflectionForClientsTest : public testing::Test {
 protected:
  ReflectionForClientsTest() {
    EXPECT_TRUE(server_.add(diary_));
    EXPECT_TRUE(server_.add(bookbinder_));
    EXPECT_TRUE(server_.add(reflection_));
  }

  Result<DescribeReply> describe(const std::string& symbol, Door door = Door::clients) {
    DescribeRequest request;
    request.set_symbol(symbol);
    const Context::Facts facts{.door = door};
    Context context(method_, request, facts);
    return reflection_.describe(request, context);
  }

  sim::SimulatedNetwork network_;
  NamedService diary_{"corolane.codegen_test.Diary",
                      {named("corolane.codegen_test.Diary/Write", false),
                       named("corolane.codegen_test.Diary/Read", true)}};
  NamedService bookbinder_{"corolane.codegen_test.Bookbinder",
                           {named("corolane.codegen_test.Bookbinder/Bind", false)}};
  Server server_{network_};
  ReflectionService reflection_{server_};
  const Method method_ = named("test", true);
};

TEST_F(ReflectionForClientsTest, ServicesAreListedWithTheMethodsThatAClientMayCall) {
  const ListServicesRequest request;
  const Context::Facts facts{.door = Door::clients};
  Context context(method_, request, facts);
  const auto reply = reflection_.list_services(request, context);

  ASSERT_TRUE(reply) << reply;
  ASSERT_EQ(reply->services_size(), 2);
  EXPECT_EQ(reply->services(0).name(), "corolane.codegen_test.Diary");
  ASSERT_EQ(reply->services(0).methods_size(), 1);
  EXPECT_EQ(reply->services(0).methods(0).full_name(), "corolane.codegen_test.Diary/Read");
  EXPECT_EQ(reply->services(1).name(), "corolane.rpc.Reflection");
}

TEST_F(ReflectionForClientsTest, ASymbolThatOnlyHiddenMethodsUseIsNotFound) {
  for (const char* seen : {"corolane.codegen_test.Diary", "corolane.codegen_test.Diary.Read",
                           "corolane.codegen_test.Entry", "corolane.codegen_test.Entry.Number",
                           "corolane.codegen_test.Entry.text", "corolane.rpc.MethodEntry"}) {
    EXPECT_TRUE(describe(seen)) << seen;
  }
  for (const char* hidden :
       {"corolane.codegen_test.Bookbinder", "corolane.codegen_test.Bookbinder.Bind",
        "corolane.codegen_test.Diary.Write", "corolane.codegen_test.Binding",
        "corolane.codegen_test.Binding.pages", "corolane.codegen_test.Notebook",
        "corolane.codegen_test.Nothing", ""}) {
    const auto reply = describe(hidden);
    EXPECT_THAT(reply, test::fails_with(Code::not_found)) << hidden;
  }
  EXPECT_TRUE(describe("corolane.codegen_test.Bookbinder", Door::nodes));
}

TEST_F(ReflectionForClientsTest, AFileIsPrunedToWhatAClientMaySee) {
  const auto reply = describe("corolane.codegen_test.Diary");

  ASSERT_TRUE(reply) << reply;
  google::protobuf::DescriptorPool pool;
  for (const std::string& bytes : reply->files()) {
    EXPECT_EQ(bytes.find("Bookbinder"), std::string::npos);
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(bytes));
    ASSERT_NE(pool.BuildFile(file), nullptr) << file.name();
  }
  const auto* const diary = pool.FindServiceByName("corolane.codegen_test.Diary");
  ASSERT_NE(diary, nullptr);
  ASSERT_EQ(diary->method_count(), 1);
  EXPECT_EQ(diary->method(0)->name(), "Read");
  std::vector<std::string> comments;
  for (const Comment& comment : reply->comments()) comments.push_back(comment.text());
  EXPECT_THAT(comments, testing::ElementsAre("Public.", "From 1."));
}

}  // namespace
}  // namespace corolane::rpc
