// What a server tells of itself, and that it is enough to rebuild its types.
#include "rpc/reflection.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "test/rpc/codegen/diary.corolane.h"
#include "test/rpc/codegen/notebook.pb.h"
#include "test/sim/network.h"
#include "test/support/matchers.h"

namespace corolane::rpc {
namespace {

// As of a service that was not generated from a linked proto.
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

TEST_F(ReflectionTest, AServiceOfObjectsIsListedWithWhatTheyKeep) {
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
  ASSERT_EQ(reply->files_size(), 1);
  google::protobuf::FileDescriptorProto file;
  ASSERT_TRUE(file.ParseFromString(reply->files(0)));
  EXPECT_EQ(file.name(), "rpc/reflection.proto");
  ASSERT_EQ(file.service_size(), 1);
  EXPECT_EQ(file.service(0).name(), "Reflection");
}

TEST_F(ReflectionTest, CommentsAreThoseOfAServedServiceAndOfItsMessages) {
  const auto served = describe("corolane.rpc.Reflection");
  const auto unserved = describe("corolane.codegen_test.Notebook");

  ASSERT_TRUE(served && unserved);
  std::map<std::string, std::string> comments;
  for (const Comment& comment : served->comments()) comments[comment.symbol()] = comment.text();
  EXPECT_EQ(comments.at("corolane.rpc.Reflection.ListServices"), "Every service of this server.");
  EXPECT_EQ(comments.at("corolane.rpc.ServiceEntry.methods"), "In the order of the file.");
  EXPECT_FALSE(comments.contains("corolane.rpc.ListServicesRequest"));
  EXPECT_TRUE(unserved->comments().empty());
}

TEST_F(ReflectionTest, AnUnknownSymbolIsNotFound) {
  EXPECT_THAT(describe("corolane.Nothing"), test::fails_with(Code::not_found));
  EXPECT_THAT(describe(""), test::fails_with(Code::not_found));
}

TEST_F(ReflectionTest, AClientAsksAsOfAnyService) {
  ASSERT_TRUE(server_.listen({"10.0.0.1", 8460}));
  const auto client =
      Client::connect(network_, {"10.0.0.1", 8460}, Deadline::after(std::chrono::seconds(1)));
  ASSERT_TRUE(client) << client;

  const auto reply = ReflectionClient(**client).list_services({});

  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->services_size(), 2);
}

}  // namespace
}  // namespace corolane::rpc
