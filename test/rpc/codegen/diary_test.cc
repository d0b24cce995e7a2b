// SPDX-License-Identifier: MIT
// The code that protoc-gen-corolane generates for the objects of diary.proto: a base with a method
// table and a state, and a client that gives an id to a router.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/testing/matchers.h"
#include "test/rpc/codegen/diary.corolane.h"

namespace corolane::codegen_test {
namespace {

using namespace std::chrono_literals;

// Keeps what is written into it.
class TestDiary : public DiaryObject {
 public:
  Result<Entry::Number> write(const Entry& request, rpc::Context&) override {
    if (request.text().empty()) return Error(Code::invalid_argument, "nothing to write");
    change().add_entries()->set_text(request.text());
    return number();
  }

  Result<Entry::Number> write_in_ink(const Entry& request, rpc::Context& context) override {
    return write(request, context);
  }

  Result<Entry> read(const Entry::Number& request, rpc::Context&) const override {
    static_assert(std::same_as<decltype(state()), const Binding::Pages&>);
    return state().entries(static_cast<int>(request.number()) - 1);
  }

  Result<void> doodle(const Entry& request, rpc::Context&) override {
    doodled = request.text();
    return {};
  }

  Result<void> read_from(const Entry::Number& request, rpc::Writer<Entry>& out,
                         rpc::Context&) const override {
    for (int i = static_cast<int>(request.number()) - 1; i < state().entries_size(); ++i) {
      if (auto written = out.write(state().entries(i)); !written) return written;
    }
    return {};
  }

  Result<void> tell_what_somebody_has_read_in_it(const Entry::Number&,
                                                 rpc::Context&) const override {
    return {};
  }

  std::string doodled;

 private:
  Entry::Number number() const {
    Entry::Number number;
    number.set_number(static_cast<std::uint32_t>(state().entries_size()));
    return number;
  }
};

class TestStack : public StackObject {};

// Moves the reply into the caller's message.
class ReplyInto final : public rpc::Messages {
 public:
  ReplyInto(const rpc::Method& method, google::protobuf::Message& reply)
      : method_(method), reply_(reply) {}

  Result<void> reply(google::protobuf::Message& message) override {
    method_.take_reply(message, reply_);
    return {};
  }
  Result<void> write(const google::protobuf::Message&) override {
    return Error(Code::unimplemented, "objects reply once");
  }

 private:
  const rpc::Method& method_;
  google::protobuf::Message& reply_;
};

// Has one object for every id, and records its calls.
class TestRouter final : public framework::Router {
 public:
  explicit TestRouter(framework::ObjectBase& object) : object_(object) {}

  Result<void> call(const rpc::Method& method, const std::string& id,
                    const google::protobuf::Message& request, google::protobuf::Message& reply,
                    const rpc::CallOptions& options) override {
    note("call", method, id, options);
    const rpc::Context::Facts facts;
    rpc::Context context(method, request, facts);
    ReplyInto sink(method, reply);
    return method.invoke(object_, request, context, sink);
  }

  Result<void> notify(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request,
                      const rpc::CallOptions& options) override {
    note("notify", method, id, options);
    const rpc::Context::Facts facts;
    rpc::Context context(method, request, facts);
    google::protobuf::Empty nothing;
    ReplyInto sink(method, nothing);
    return method.invoke(object_, request, context, sink);
  }

  Result<void> stream(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request, rpc::Messages& sink,
                      const rpc::CallOptions& options) override {
    note("stream", method, id, options);
    const rpc::Context::Facts facts;
    rpc::Context context(method, request, facts);
    return method.invoke(object_, request, context, sink);
  }

  framework::detail::Broadcast::Reader subscribe(
      std::string_view type, const std::string& id,
      const google::protobuf::Message& prototype) override {
    calls.push_back("subscribe to " + prototype.GetTypeName() + " of " + std::string(type) + " " +
                    id);
    return framework::detail::Broadcast::Reader(broadcast);
  }

  std::vector<std::string> calls;
  rpc::CallOptions options_of_last;
  std::shared_ptr<framework::detail::Broadcast> broadcast =
      std::make_shared<framework::detail::Broadcast>(framework::detail::Broadcast::Bounds());

 private:
  void note(const std::string& way, const rpc::Method& method, const std::string& id,
            const rpc::CallOptions& options) {
    calls.push_back(way + " " + method.full_name + " of " + id);
    options_of_last = options;
  }

  framework::ObjectBase& object_;
};

Entry make_entry(const std::string& text) {
  Entry entry;
  entry.set_text(text);
  return entry;
}

// A service beside objects is an ordinary service, and its client needs no router.
static_assert(std::is_base_of_v<framework::ObjectBase, DiaryObject>);
static_assert(!std::is_base_of_v<framework::ObjectBase, BookbinderBase>);
static_assert(std::constructible_from<BookbinderClient, rpc::Client&>);
static_assert(!std::constructible_from<DiaryClient, rpc::Client&>);

class DiaryTest : public testing::Test {
 protected:
  TestDiary diary_;
  TestRouter router_{diary_};
  DiaryClient client_{router_, "ada"};
};

TEST_F(DiaryTest, ATypeOfObjectsIsKnownWithoutAnObject) {
  const framework::ObjectType type = TestDiary::object_type();

  EXPECT_STREQ(type.name, "corolane.codegen_test.Diary");
  EXPECT_EQ(type.methods.data(), diary_.methods().data());
  EXPECT_EQ(type.methods.size(), 6);
  EXPECT_EQ(type.comments.data(), diary_.comments().data());
  EXPECT_STREQ(diary_.service_name(), type.name);
}

TEST_F(DiaryTest, ATypeOfObjectsMayHaveNoMethods) {
  EXPECT_STREQ(StackObject::object_type().name, "corolane.codegen_test.Stack");
  EXPECT_TRUE(StackObject::object_type().methods.empty());
  EXPECT_TRUE(TestStack().methods().empty());
}

TEST_F(DiaryTest, ARowSaysWhatItsMethodDoesToTheState) {
  const auto methods = DiaryObject::object_type().methods;

  EXPECT_FALSE(methods[0].durable || methods[0].read_only);
  EXPECT_TRUE(methods[1].durable);
  EXPECT_FALSE(methods[1].read_only);
  EXPECT_TRUE(methods[2].read_only);
  EXPECT_FALSE(methods[2].durable);
  EXPECT_TRUE(methods[5].read_only && methods[5].one_way);
}

TEST_F(DiaryTest, ACallGoesToTheObjectOfTheId) {
  const auto number = client_.write(make_entry("Dear diary"));
  const auto entry = client_.read(*number);

  ASSERT_TRUE(number) << number;
  EXPECT_EQ(number->number(), 1);
  ASSERT_TRUE(entry) << entry;
  EXPECT_EQ(entry->text(), "Dear diary");
  EXPECT_THAT(router_.calls, testing::ElementsAre("call corolane.codegen_test.Diary/Write of ada",
                                                  "call corolane.codegen_test.Diary/Read of ada"));
}

TEST_F(DiaryTest, AnErrorOfTheHandlerIsTheErrorOfTheCall) {
  EXPECT_EQ(client_.write(make_entry("")).error(),
            Error(Code::invalid_argument, "nothing to write"));
}

TEST_F(DiaryTest, AOneWayCallIsNotified) {
  EXPECT_TRUE(client_.doodle(make_entry("a cat")));
  EXPECT_TRUE(client_.tell_what_somebody_has_read_in_it({}));

  EXPECT_EQ(diary_.doodled, "a cat");
  EXPECT_THAT(router_.calls,
              testing::ElementsAre("notify corolane.codegen_test.Diary/Doodle of ada",
                                   "notify corolane.codegen_test.Diary/TellWhatSomebodyHasReadInIt"
                                   " of ada"));
}

TEST_F(DiaryTest, AStreamIsReadMessageByMessage) {
  for (const char* text : {"one", "two", "three"}) ASSERT_TRUE(client_.write(make_entry(text)));
  Entry::Number from;
  from.set_number(2);
  auto entries = client_.read_from(from);
  std::string read;
  for (Entry entry; entries.read(entry);) read += entry.text() + " ";
  EXPECT_TRUE(entries.finish());
  EXPECT_EQ(read, "two three ");
  EXPECT_EQ(router_.calls.back(), "stream corolane.codegen_test.Diary/ReadFrom of ada");
}

TEST_F(DiaryTest, APublicationIsReadWithItsType) {
  static_assert(std::is_base_of_v<framework::PublishingObject<Binding::Pages, Entry>, DiaryObject>);
  auto entries = client_.subscribe();
  router_.broadcast->begin({.epoch = 7, .sequence = 1}, framework::Gap::begin);
  const auto begin = entries.next(Deadline::passed());
  ASSERT_TRUE(begin) << begin;
  EXPECT_EQ(begin->gap(), framework::Gap::begin);
  router_.broadcast->append(std::make_shared<Entry>(make_entry("a new page")));

  const auto entry = entries.next(Deadline::passed());

  ASSERT_TRUE(entry) << entry;
  EXPECT_EQ((*entry)->text(), "a new page");
  EXPECT_EQ(entry->position(), (framework::Position{.epoch = 7, .sequence = 2}));
  EXPECT_THAT(router_.calls, testing::ElementsAre("subscribe to corolane.codegen_test.Entry of "
                                                  "corolane.codegen_test.Diary ada"));
}

TEST_F(DiaryTest, OptionsReachTheRouter) {
  const Deadline deadline = Deadline::after(3s);

  ASSERT_TRUE(client_.write_in_ink(
      make_entry("so be it"),
      {.deadline = deadline, .request_id = {.caller = "match 7", .sequence = 12}}));

  EXPECT_EQ(router_.options_of_last.deadline->time(), deadline.time());
  EXPECT_EQ(router_.options_of_last.request_id.caller, "match 7");
  EXPECT_EQ(router_.options_of_last.request_id.sequence, 12);
}

}  // namespace
}  // namespace corolane::codegen_test
