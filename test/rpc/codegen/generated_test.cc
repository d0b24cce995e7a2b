// SPDX-License-Identifier: MIT
// The code that protoc-gen-corolane generates for notebook.proto: a base with a method table, and a
// client that calls the methods.
#include <gmock/gmock.h>
#include <google/protobuf/arena.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "rpc/wire/frame.h"
#include "test/rpc/codegen/notebook.corolane.h"
#include "test/rpc/codegen/unscoped.corolane.h"

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

  Result<void> read_on(const Note::Place& place, rpc::Writer<Note>& out, rpc::Context&) override {
    for (std::uint32_t line = place.line(); line <= 3; ++line) {
      Note note;
      note.set_text("line " + std::to_string(line));
      if (auto written = out.write(note); !written) return written;
    }
    return Error(Code::out_of_range, "the book has three lines");
  }

  Result<void> read_the_papers_that_somebody_else_has_made(const stationery::Paper&,
                                                           rpc::Writer<stationery::Paper>&,
                                                           rpc::Context&) override {
    return {};
  }

  Result<void> scribble(const Note& note, rpc::Context&) override {
    text = note.text();
    if (text.empty()) return Error(Code::invalid_argument, "nothing to scribble");
    return {};
  }

  Result<void> burn(const google::protobuf::Empty&, rpc::Context&) override { return {}; }

  Result<Note::Place> append(const WriteNoteRequest& request, rpc::Context& context) override {
    return write_note(request, context);
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

// Keeps the messages that a server would send.
class KeptReply final : public rpc::Messages {
 public:
  Result<void> reply(google::protobuf::Message& message) override {
    type = message.GetTypeName();
    bytes = message.SerializeAsString();
    return {};
  }
  Result<void> write(const google::protobuf::Message& message) override {
    written.push_back(message.ShortDebugString());
    return {};
  }

  std::string type;
  std::string bytes;
  std::vector<std::string> written;
};

WriteNoteRequest write_request(const std::string& text) {
  WriteNoteRequest request;
  request.mutable_note()->set_text(text);
  return request;
}

class GeneratedTest : public testing::Test {
 protected:
  Result<void> invoke(const rpc::Method& method, const google::protobuf::Message& request) {
    const rpc::Context::Facts facts;
    rpc::Context context(method, request, facts);
    return method.invoke(notebook_, request, context, kept_);
  }

  TestNotebook notebook_;
  KeptReply kept_;
};

TEST_F(GeneratedTest, AServiceKnowsItsFullName) {
  EXPECT_STREQ(notebook_.service_name(), "corolane.codegen_test.Notebook");
  EXPECT_STREQ(TestBell().service_name(), "UnscopedBell");
}

TEST_F(GeneratedTest, MethodsAreInTheOrderOfTheFileWithTheirFullNamesAndIds) {
  const auto methods = notebook_.methods();

  ASSERT_EQ(methods.size(), 8);
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

TEST_F(GeneratedTest, PropertiesOfAMethodAreInItsRow) {
  const auto methods = notebook_.methods();
  const rpc::Method& write_note = methods[0];
  const rpc::Method& empty = methods[1];
  const rpc::Method& read_on = methods[3];
  const rpc::Method& scribble = methods[5];
  const rpc::Method& burn = methods[6];
  const rpc::Method& append = methods[7];

  EXPECT_EQ(write_note.priority, rpc::Priority::in_session);
  EXPECT_FALSE(write_note.idempotent || write_note.one_way || write_note.server_streaming);
  EXPECT_TRUE(write_note.is_public);
  EXPECT_TRUE(empty.idempotent);
  EXPECT_FALSE(empty.is_public);
  EXPECT_EQ(read_on.priority, rpc::Priority::login);
  EXPECT_TRUE(read_on.server_streaming);
  EXPECT_EQ(scribble.priority, rpc::Priority::background);
  EXPECT_TRUE(scribble.one_way);
  EXPECT_EQ(burn.priority, rpc::Priority::control);
  EXPECT_TRUE(append.idempotent) << "by protobuf's own option";
}

TEST_F(GeneratedTest, CommentsAreThoseOfTheFileByFullName) {
  const auto comments = notebook_.comments();
  const auto find = [&](std::string_view symbol) -> std::string_view {
    const auto found = std::ranges::find(comments, symbol, &rpc::SymbolComment::symbol);
    return found == comments.end() ? "" : found->text;
  };

  EXPECT_EQ(find("corolane.codegen_test.Notebook"),
            "Keeps notes, in the order in which they were written.\n"
            "\n"
            "Nothing is kept beyond the end of the process.\n"
            "\n"
            "Most people have one.");
  EXPECT_EQ(find("corolane.codegen_test.Notebook.Scribble"), "It may never be read.");
  EXPECT_EQ(find("corolane.codegen_test.Note.text"), "Is it \"UTF-8\"?\?");
  EXPECT_EQ(find("corolane.codegen_test.Note.Place.line"), "From 1.");
  EXPECT_EQ(find("corolane.codegen_test.stationery.A4"), "210 by 297 millimetres.");
  EXPECT_EQ(find("corolane.codegen_test.Eraser"), "") << "no method needs it";
  EXPECT_TRUE(TestBell().comments().empty());
}

TEST_F(GeneratedTest, ARequestIsMadeInTheArena) {
  google::protobuf::Arena arena;

  google::protobuf::Message* request = notebook_.methods()[0].new_request(&arena);

  EXPECT_EQ(request->GetTypeName(), "corolane.codegen_test.WriteNoteRequest");
  EXPECT_EQ(request->GetArena(), &arena);
}

TEST_F(GeneratedTest, AReplyIsTakenFromOneMessageToAnother) {
  const rpc::Method& write_note = notebook_.methods()[0];
  const std::unique_ptr<google::protobuf::Message> from(write_note.new_reply(nullptr));
  static_cast<Note::Place&>(*from).set_line(17);
  Note::Place to;

  write_note.take_reply(*from, to);

  EXPECT_EQ(from->GetArena(), nullptr);
  EXPECT_EQ(to.line(), 17);
}

TEST_F(GeneratedTest, OnlyMethodsWithOneReplyHaveTakeReply) {
  for (const rpc::Method& method : notebook_.methods()) {
    const bool has_one = !method.one_way && !method.server_streaming;
    EXPECT_EQ(method.new_reply != nullptr, !method.one_way) << method.full_name;
    EXPECT_EQ(method.take_reply != nullptr, has_one) << method.full_name;
  }
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

TEST_F(GeneratedTest, InvokeWritesAStreamToTheSinkAndReturnsHowItEnds) {
  Note::Place second_line;
  second_line.set_line(2);

  const auto invoked = invoke(notebook_.methods()[3], second_line);

  EXPECT_THAT(kept_.written, testing::ElementsAre("text: \"line 2\"", "text: \"line 3\""));
  EXPECT_EQ(invoked.error(), Error(Code::out_of_range, "the book has three lines"));
  EXPECT_TRUE(kept_.type.empty());
}

TEST_F(GeneratedTest, InvokeOfAOneWayMethodSendsNoReply) {
  Note note;
  note.set_text("ab");

  EXPECT_TRUE(invoke(notebook_.methods()[5], note));
  EXPECT_EQ(notebook_.text, "ab");
  EXPECT_TRUE(kept_.type.empty());
  EXPECT_TRUE(kept_.written.empty());

  EXPECT_THAT(invoke(notebook_.methods()[5], Note()), test::fails_with(Code::invalid_argument));
}

// A server of the notebook, and a client.
class GeneratedClientTest : public testing::Test {
 protected:
  GeneratedClientTest() {
    EXPECT_TRUE(server_.add(notebook_));
    EXPECT_TRUE(server_.listen({"10.0.0.1", 8460}, {.door = rpc::Door::nodes}));
    auto client = rpc::Client::connect(network_, {"10.0.0.1", 8460}, Deadline::after(1s));
    EXPECT_TRUE(client) << client;
    client_ = std::move(*client);
  }

  NotebookClient notebook() { return NotebookClient(*client_); }

  sim::SimulatedNetwork network_;
  TestNotebook notebook_;
  rpc::Server server_{network_};
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(GeneratedClientTest, ACallReturnsTheReplyOrTheErrorOfTheHandler) {
  const auto place = notebook().write_note(write_request("buy milk"));
  const auto refused = notebook().write_note(write_request(""));

  ASSERT_TRUE(place) << place;
  EXPECT_EQ(place->line(), 17);
  EXPECT_EQ(notebook_.text, "buy milk");
  EXPECT_EQ(refused.error(), Error(Code::invalid_argument, "nothing to write"));
}

TEST_F(GeneratedClientTest, AStreamIsReadToItsEnd) {
  Note::Place first_line;
  first_line.set_line(1);
  std::vector<std::string> lines;

  auto notes = notebook().read_on(first_line);
  for (Note note; notes.read(note);) lines.push_back(note.text());

  EXPECT_THAT(lines, testing::ElementsAre("line 1", "line 2", "line 3"));
  EXPECT_EQ(notes.finish().error(), Error(Code::out_of_range, "the book has three lines"));
}

TEST_F(GeneratedClientTest, AOneWayCallSucceedsWhateverItsOutcome) {
  Note note;
  note.set_text("ab");

  EXPECT_TRUE(notebook().scribble(note));
  EXPECT_TRUE(notebook().scribble(Note()));
  ASSERT_TRUE(coroutine::sleep_for(1s)) << "let both arrive";

  EXPECT_EQ(notebook_.text, "") << "the last one";
}

}  // namespace
}  // namespace corolane::codegen_test
