// What protoc-gen-corolane makes of notebook.proto: a base that is a table of methods, and a
// client that calls them.
#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/stack_pool.h"
#include "rpc/client.h"
#include "rpc/frame.h"
#include "rpc/server.h"
#include "test/rpc/codegen/notebook.corolane.h"
#include "test/rpc/codegen/unscoped.corolane.h"
#include "test/sim/network.h"
#include "test/support/matchers.h"

namespace corolane::codegen_test {
namespace {

using namespace std::chrono_literals;

// Remembers the last note.
class TestNotebook : public NotebookBase {
 public:
  Result<Note::Place> write_note(const WriteNoteRequest& request, rpc::Context&) override {
    if (request.note().text().empty()) {
      return Error(Code::invalid_argument, "nothing to write");
    }
    text = request.note().text();
    Note::Place place;
    place.set_line(17);
    return place;
  }

  Result<google::protobuf::Empty> empty(const google::protobuf::Empty&, rpc::Context&) override {
    text.clear();
    return google::protobuf::Empty();
  }

  Result<stationery::Paper> add_paper_that_somebody_else_has_made(const stationery::Paper& paper,
                                                                  rpc::Context&) override {
    return paper;
  }

  std::string text;
};

class TestPencil : public PencilBase {};

class TestBell : public ::UnscopedBellBase {
 public:
  Result<::UnscopedRing> ring(const ::UnscopedRing& request, rpc::Context&) override {
    return request;
  }
};

// Keeps what a server would send.
class KeptReply final : public rpc::ReplySink {
 public:
  Result<void> reply(const google::protobuf::Message& message) override {
    type = message.GetTypeName();
    bytes = message.SerializeAsString();
    return {};
  }

  std::string type;
  std::string bytes;
};

WriteNoteRequest write_request(const std::string& text) {
  WriteNoteRequest request;
  request.mutable_note()->set_text(text);
  return request;
}

class GeneratedTest : public testing::Test {
 protected:
  Result<void> invoke(const rpc::Method& method, const google::protobuf::Message& request) {
    rpc::Context context(Deadline::never(), method.full_name);
    return method.invoke(notebook_, request, context, kept_);
  }

  TestNotebook notebook_;
  KeptReply kept_;
};

TEST_F(GeneratedTest, AServiceKnowsItsFullName) {
  EXPECT_STREQ(notebook_.service_name(), "corolane.codegen_test.Notebook");
  EXPECT_STREQ(TestBell().service_name(), "UnscopedBell");
}

TEST_F(GeneratedTest, MethodsStandInTheOrderOfTheFileUnderTheirFullNamesAndIds) {
  const auto methods = notebook_.methods();

  ASSERT_EQ(methods.size(), 3);
  EXPECT_STREQ(methods[0].full_name, "corolane.codegen_test.Notebook/WriteNote");
  EXPECT_STREQ(methods[1].full_name, "corolane.codegen_test.Notebook/Empty");
  EXPECT_STREQ(methods[2].full_name,
               "corolane.codegen_test.Notebook/AddPaperThatSomebodyElseHasMade");
  for (const rpc::Method& method : methods) {
    EXPECT_EQ(method.id, rpc::method_id(method.full_name));
  }
}

TEST_F(GeneratedTest, AServiceMayHaveNoMethods) { EXPECT_TRUE(TestPencil().methods().empty()); }

TEST_F(GeneratedTest, OptionsOfAMethodAreInItsRow) {
  const auto methods = notebook_.methods();

  EXPECT_EQ(methods[0].timeout, 250ms);
  EXPECT_EQ(methods[0].stack_size_bytes, 128 * 1024);
  EXPECT_EQ(methods[1].timeout, 1500ms);
  EXPECT_EQ(methods[1].stack_size_bytes, coroutine::StackPool::stack_size_bytes_default);
  EXPECT_EQ(methods[2].timeout, 1500us);
  EXPECT_EQ(methods[2].stack_size_bytes, 20'000);
  EXPECT_EQ(TestBell().methods()[0].timeout, 10s);
}

TEST_F(GeneratedTest, ARequestIsMadeInTheArena) {
  google::protobuf::Arena arena;

  google::protobuf::Message* request = notebook_.methods()[0].new_request(arena);

  EXPECT_EQ(request->GetTypeName(), "corolane.codegen_test.WriteNoteRequest");
  EXPECT_EQ(request->GetArena(), &arena);
}

TEST_F(GeneratedTest, InvokeCallsTheHandlerAndGivesItsReplyToTheSink) {
  ASSERT_TRUE(invoke(notebook_.methods()[0], write_request("buy milk")));

  EXPECT_EQ(notebook_.text, "buy milk");
  EXPECT_EQ(kept_.type, "corolane.codegen_test.Note.Place");
  Note::Place place;
  ASSERT_TRUE(place.ParseFromString(kept_.bytes));
  EXPECT_EQ(place.line(), 17);
}

TEST_F(GeneratedTest, InvokeReturnsTheErrorOfTheHandlerAndSendsNothing) {
  const auto invoked = invoke(notebook_.methods()[0], write_request(""));

  EXPECT_EQ(invoked.error(), Error(Code::invalid_argument, "nothing to write"));
  EXPECT_TRUE(kept_.type.empty());
}

TEST_F(GeneratedTest, AClientCallsAServerThroughItsTypes) {
  sim::SimulatedNetwork network;
  rpc::Server server(network);
  ASSERT_TRUE(server.add(notebook_));
  const auto endpoint = server.listen({"10.0.0.1", 0});
  ASSERT_TRUE(endpoint) << endpoint;
  const auto client =
      rpc::Client::connect(network, {endpoint->address, endpoint->port}, Deadline::after(1s));
  ASSERT_TRUE(client) << client;
  NotebookClient notebook_client(**client);

  const auto place = notebook_client.write_note(write_request("buy milk"));
  const auto refused = notebook_client.write_note(write_request(""));

  ASSERT_TRUE(place) << place;
  EXPECT_EQ(place->line(), 17);
  EXPECT_EQ(notebook_.text, "buy milk");
  EXPECT_EQ(refused.error(), Error(Code::invalid_argument, "nothing to write"));
}

}  // namespace
}  // namespace corolane::codegen_test
