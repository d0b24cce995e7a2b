// Generated from test/rpc/codegen/diary.proto by protoc-gen-corolane: edit that file instead.
#include "test/rpc/codegen/diary.corolane.h"

#include <array>
#include <chrono>
#include <utility>

#include "rpc/wire/frame.h"

namespace corolane::codegen_test {
namespace {

template <typename Message>
::google::protobuf::Message* new_message(::google::protobuf::Arena* arena) {
  return ::google::protobuf::Arena::CreateMessage<Message>(arena);
}

template <typename Reply>
void take_reply(::google::protobuf::Message& from, ::google::protobuf::Message& to) {
  static_cast<Reply&>(to) = static_cast<Reply&&>(from);
}

template <typename Base, typename Request, auto handler>
::corolane::Result<void> invoke_unary(::corolane::rpc::Service& service,
                                      const ::google::protobuf::Message& request,
                                      ::corolane::rpc::Context& context,
                                      ::corolane::rpc::ReplySink& sink) {
  auto& base = static_cast<Base&>(service);
  auto reply = (base.*handler)(static_cast<const Request&>(request), context);
  if (!reply) return std::move(reply).error();
  return sink.reply(*reply);
}

template <typename Base, typename Request, auto handler>
::corolane::Result<void> invoke_one_way(::corolane::rpc::Service& service,
                                        const ::google::protobuf::Message& request,
                                        ::corolane::rpc::Context& context,
                                        ::corolane::rpc::ReplySink&) {
  auto& base = static_cast<Base&>(service);
  return (base.*handler)(static_cast<const Request&>(request), context);
}

constexpr std::array<::corolane::rpc::Method, 5> methods_of_Diary = {{
    {
        .full_name = "corolane.codegen_test.Diary/Write",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Diary/Write"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<Entry>,
        .new_reply = new_message<Entry_Number>,
        .take_reply = take_reply<Entry_Number>,
        .invoke = invoke_unary<DiaryObject, Entry, &DiaryObject::write>,
    },
    {
        .full_name = "corolane.codegen_test.Diary/WriteInInk",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Diary/WriteInInk"),
        .timeout = std::chrono::seconds(2),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = true,
        .one_way = false,
        .server_streaming = false,
        .is_public = false,
        .durable = true,
        .read_only = false,
        .new_request = new_message<Entry>,
        .new_reply = new_message<Entry_Number>,
        .take_reply = take_reply<Entry_Number>,
        .invoke = invoke_unary<DiaryObject, Entry, &DiaryObject::write_in_ink>,
    },
    {
        .full_name = "corolane.codegen_test.Diary/Read",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Diary/Read"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .server_streaming = false,
        .is_public = true,
        .durable = false,
        .read_only = true,
        .new_request = new_message<Entry_Number>,
        .new_reply = new_message<Entry>,
        .take_reply = take_reply<Entry>,
        .invoke = invoke_unary<DiaryObject, Entry_Number, &DiaryObject::read>,
    },
    {
        .full_name = "corolane.codegen_test.Diary/Doodle",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Diary/Doodle"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = true,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<Entry>,
        .invoke = invoke_one_way<DiaryObject, Entry, &DiaryObject::doodle>,
    },
    {
        .full_name = "corolane.codegen_test.Diary/TellWhatSomebodyHasReadInIt",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Diary/TellWhatSomebodyHasReadInIt"),
        .timeout = std::chrono::seconds(5),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = true,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = true,
        .new_request = new_message<Entry_Number>,
        .invoke = invoke_one_way<DiaryObject, Entry_Number,
                                 &DiaryObject::tell_what_somebody_has_read_in_it>,
    },
}};

constexpr std::array<::corolane::rpc::Method, 1> methods_of_EnvelopeOfNoReturn = {{
    {
        .full_name = "corolane.codegen_test.EnvelopeOfNoReturn/PutInside",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.EnvelopeOfNoReturn/PutInside"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .server_streaming = false,
        .is_public = false,
        .durable = true,
        .read_only = false,
        .new_request = new_message<::corolane::codegen_test::stationery::Article>,
        .new_reply = new_message<::corolane::codegen_test::stationery::Article_Price>,
        .take_reply = take_reply<::corolane::codegen_test::stationery::Article_Price>,
        .invoke =
            invoke_unary<EnvelopeOfNoReturnObject, ::corolane::codegen_test::stationery::Article,
                         &EnvelopeOfNoReturnObject::put_inside>,
    },
}};

constexpr std::array<::corolane::rpc::Method, 2> methods_of_Bookbinder = {{
    {
        .full_name = "corolane.codegen_test.Bookbinder/Bind",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Bookbinder/Bind"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<Binding_Pages>,
        .new_reply = new_message<Binding>,
        .take_reply = take_reply<Binding>,
        .invoke = invoke_unary<BookbinderBase, Binding_Pages, &BookbinderBase::bind>,
    },
    {
        .full_name = "corolane.codegen_test.Bookbinder/Clean",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Bookbinder/Clean"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<::corolane::codegen_test::Object>,
        .new_reply = new_message<::corolane::codegen_test::Service>,
        .take_reply = take_reply<::corolane::codegen_test::Service>,
        .invoke =
            invoke_unary<BookbinderBase, ::corolane::codegen_test::Object, &BookbinderBase::clean>,
    },
}};

constexpr auto symbol_comments = std::to_array<::corolane::rpc::SymbolComment>({
    {"corolane.codegen_test.Diary",
     "A diary, written day by day.\n"
     "\n"
     "Each belongs to one person.\n"
     "\n"
     "With a lock."},
    {"corolane.codegen_test.Diary.Write", "Writes below the rest."},
    {"corolane.codegen_test.Diary.WriteInInk", "Like Write, but permanent."},
    {"corolane.codegen_test.Diary.Read", "Reads one entry."},
    {"corolane.codegen_test.Diary.TellWhatSomebodyHasReadInIt",
     "For an onlooker who looks over a shoulder."},
    {"corolane.codegen_test.EnvelopeOfNoReturn", "Its state is from another package."},
    {"corolane.codegen_test.Stack",
     "A type of objects may have no methods yet. Its state comes through a public import."},
    {"corolane.codegen_test.Bookbinder", "A service without objects."},
    {"corolane.codegen_test.Bookbinder.Clean",
     "Messages may have the names of base classes of generated classes."},
    {"corolane.codegen_test.Entry.Number.number", "From 1."},
    {"corolane.codegen_test.stationery.A4", "210 by 297 millimetres."},
    {"corolane.codegen_test.Binding.Pages", "The pages of a diary."},
});

}  // namespace

::corolane::framework::ObjectType DiaryObject::object_type() {
  return {"corolane.codegen_test.Diary", methods_of_Diary, symbol_comments};
}

const char* DiaryObject::service_name() const { return "corolane.codegen_test.Diary"; }

std::span<const ::corolane::rpc::Method> DiaryObject::methods() const { return methods_of_Diary; }

std::span<const ::corolane::rpc::SymbolComment> DiaryObject::comments() const {
  return symbol_comments;
}

::corolane::Result<Entry_Number> DiaryClient::write(const Entry& request,
                                                    ::corolane::rpc::CallOptions options) {
  ::corolane::Result<Entry_Number> reply;
  auto called = router_->call(methods_of_Diary[0], id_, request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

::corolane::Result<Entry_Number> DiaryClient::write_in_ink(const Entry& request,
                                                           ::corolane::rpc::CallOptions options) {
  ::corolane::Result<Entry_Number> reply;
  auto called = router_->call(methods_of_Diary[1], id_, request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

::corolane::Result<Entry> DiaryClient::read(const Entry_Number& request,
                                            ::corolane::rpc::CallOptions options) {
  ::corolane::Result<Entry> reply;
  auto called = router_->call(methods_of_Diary[2], id_, request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

::corolane::Result<void> DiaryClient::doodle(const Entry& request,
                                             ::corolane::rpc::CallOptions options) {
  return router_->notify(methods_of_Diary[3], id_, request, options);
}

::corolane::Result<void> DiaryClient::tell_what_somebody_has_read_in_it(
    const Entry_Number& request, ::corolane::rpc::CallOptions options) {
  return router_->notify(methods_of_Diary[4], id_, request, options);
}

::corolane::framework::Subscription<Entry> DiaryClient::subscribe() const {
  return {*router_, "corolane.codegen_test.Diary", id_};
}

::corolane::framework::ObjectType EnvelopeOfNoReturnObject::object_type() {
  return {"corolane.codegen_test.EnvelopeOfNoReturn", methods_of_EnvelopeOfNoReturn,
          symbol_comments};
}

const char* EnvelopeOfNoReturnObject::service_name() const {
  return "corolane.codegen_test.EnvelopeOfNoReturn";
}

std::span<const ::corolane::rpc::Method> EnvelopeOfNoReturnObject::methods() const {
  return methods_of_EnvelopeOfNoReturn;
}

std::span<const ::corolane::rpc::SymbolComment> EnvelopeOfNoReturnObject::comments() const {
  return symbol_comments;
}

::corolane::Result<::corolane::codegen_test::stationery::Article_Price>
EnvelopeOfNoReturnClient::put_inside(const ::corolane::codegen_test::stationery::Article& request,
                                     ::corolane::rpc::CallOptions options) {
  ::corolane::Result<::corolane::codegen_test::stationery::Article_Price> reply;
  auto called = router_->call(methods_of_EnvelopeOfNoReturn[0], id_, request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

::corolane::framework::Subscription<::corolane::codegen_test::stationery::Article_Price>
EnvelopeOfNoReturnClient::subscribe() const {
  return {*router_, "corolane.codegen_test.EnvelopeOfNoReturn", id_};
}

::corolane::framework::ObjectType StackObject::object_type() {
  return {"corolane.codegen_test.Stack", {}, symbol_comments};
}

const char* StackObject::service_name() const { return "corolane.codegen_test.Stack"; }

std::span<const ::corolane::rpc::Method> StackObject::methods() const { return {}; }

std::span<const ::corolane::rpc::SymbolComment> StackObject::comments() const {
  return symbol_comments;
}

const char* BookbinderBase::service_name() const { return "corolane.codegen_test.Bookbinder"; }

std::span<const ::corolane::rpc::Method> BookbinderBase::methods() const {
  return methods_of_Bookbinder;
}

std::span<const ::corolane::rpc::SymbolComment> BookbinderBase::comments() const {
  return symbol_comments;
}

::corolane::Result<Binding> BookbinderClient::bind(const Binding_Pages& request,
                                                   ::corolane::rpc::CallOptions options) {
  ::corolane::Result<Binding> reply;
  auto called = client_->call(methods_of_Bookbinder[0], request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

::corolane::Result<::corolane::codegen_test::Service> BookbinderClient::clean(
    const ::corolane::codegen_test::Object& request, ::corolane::rpc::CallOptions options) {
  ::corolane::Result<::corolane::codegen_test::Service> reply;
  auto called = client_->call(methods_of_Bookbinder[1], request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

}  // namespace corolane::codegen_test
