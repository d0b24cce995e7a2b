// Generated from test/rpc/codegen/library.proto by protoc-gen-corolane: edit that file instead.
#include "test/rpc/codegen/library.corolane.h"

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
                                      ::corolane::rpc::Messages& messages) {
  auto& base = static_cast<Base&>(service);
  auto reply = (base.*handler)(static_cast<const Request&>(request), context);
  if (!reply) return std::move(reply).error();
  return messages.reply(*reply);
}

template <typename Base, typename Request, typename Reply, auto handler>
::corolane::Result<void> invoke_stream(::corolane::rpc::Service& service,
                                       const ::google::protobuf::Message& request,
                                       ::corolane::rpc::Context& context,
                                       ::corolane::rpc::Messages& messages) {
  auto& base = static_cast<Base&>(service);
  ::corolane::rpc::Writer<Reply> out(messages);
  return (base.*handler)(static_cast<const Request&>(request), out, context);
}

template <typename Base, typename Request, auto handler>
::corolane::Result<void> invoke_one_way(::corolane::rpc::Service& service,
                                        const ::google::protobuf::Message& request,
                                        ::corolane::rpc::Context& context,
                                        ::corolane::rpc::Messages&) {
  auto& base = static_cast<Base&>(service);
  return (base.*handler)(static_cast<const Request&>(request), context);
}

constexpr std::array<::corolane::rpc::Method, 3> methods_of_Library = {{
    {
        .full_name = "corolane.codegen_test.Library/Lend",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Library/Lend"),
        .timeout = std::chrono::milliseconds(250),
        .stack_size_bytes = 128 * 1024,
        .priority = ::corolane::rpc::Priority::control,
        .idempotent = true,
        .one_way = false,
        .client_streaming = false,
        .server_streaming = false,
        .is_public = true,
        .durable = false,
        .read_only = false,
        .new_request = new_message<Title>,
        .new_reply = new_message<Copy>,
        .take_reply = take_reply<Copy>,
        .invoke = invoke_unary<LibraryBase, Title, &LibraryBase::lend>,
    },
    {
        .full_name = "corolane.codegen_test.Library/Browse",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Library/Browse"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::login,
        .idempotent = false,
        .one_way = false,
        .client_streaming = false,
        .server_streaming = true,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<Title>,
        .new_reply = new_message<Copy>,
        .invoke = invoke_stream<LibraryBase, Title, Copy, &LibraryBase::browse>,
    },
    {
        .full_name = "corolane.codegen_test.Library/Suggest",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Library/Suggest"),
        .timeout = std::chrono::milliseconds(1500),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::background,
        .idempotent = false,
        .one_way = true,
        .client_streaming = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<Title>,
        .invoke = invoke_one_way<LibraryBase, Title, &LibraryBase::suggest>,
    },
}};

constexpr std::array<::corolane::rpc::Method, 3> methods_of_Shelf = {{
    {
        .full_name = "corolane.codegen_test.Shelf/Put",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Shelf/Put"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .client_streaming = false,
        .server_streaming = false,
        .is_public = false,
        .durable = true,
        .read_only = false,
        .new_request = new_message<Copy>,
        .new_reply = new_message<Copies>,
        .take_reply = take_reply<Copies>,
        .invoke = invoke_unary<ShelfObject, Copy, &ShelfObject::put>,
    },
    {
        .full_name = "corolane.codegen_test.Shelf/Look",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Shelf/Look"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .client_streaming = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = true,
        .new_request = new_message<Title>,
        .new_reply = new_message<Copies>,
        .take_reply = take_reply<Copies>,
        .invoke = invoke_unary<ShelfObject, Title, &ShelfObject::look>,
    },
    {
        .full_name = "corolane.codegen_test.Shelf/Dust",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Shelf/Dust"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = true,
        .client_streaming = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<::google::protobuf::Empty>,
        .invoke = invoke_one_way<ShelfObject, ::google::protobuf::Empty, &ShelfObject::dust>,
    },
}};

constexpr auto symbol_comments = std::to_array<::corolane::rpc::SymbolComment>({
    {"corolane.codegen_test.Library",
     "Lends out books.\n"
     "\n"
     "Nobody pays for that.\n"
     "\n"
     "It is open day and night."},
    {"corolane.codegen_test.Library.Lend",
     "Lends one copy. Fails with not_found when all copies are lent out."},
    {"corolane.codegen_test.Library.Browse",
     "Every copy on the shelves, and then each one that comes back."},
    {"corolane.codegen_test.Library.Suggest",
     "A reader may read it."},
    {"corolane.codegen_test.Shelf",
     "Holds copies of one title."},
    {"corolane.codegen_test.Title.name",
     "Is it \"UTF-8\"?\?"},
    {"corolane.codegen_test.Copy.number",
     "Counts up from 1,\n"
     "in the order of purchase."},
});

}  // namespace

const char* LibraryBase::service_name() const {
  return "corolane.codegen_test.Library";
}

std::span<const ::corolane::rpc::Method> LibraryBase::methods() const {
  return methods_of_Library;
}

std::span<const ::corolane::rpc::SymbolComment> LibraryBase::comments() const {
  return symbol_comments;
}

::corolane::Result<Copy> LibraryClient::lend(
    const Title& request,
    const ::corolane::rpc::CallOptions& options) {
  ::corolane::Result<Copy> reply;
  auto called = client_->call(methods_of_Library[0], request, *reply, options);
  if (!called) reply = std::move(called).error();
  return reply;
}

::corolane::rpc::Reader<Copy> LibraryClient::browse(
    const Title& request,
    const ::corolane::rpc::CallOptions& options) {
  return ::corolane::rpc::Reader<Copy>(*client_, methods_of_Library[1], request, options);
}

::corolane::Result<void> LibraryClient::suggest(
    const Title& request,
    const ::corolane::rpc::CallOptions& options) {
  return client_->notify(methods_of_Library[2], request, options);
}

::corolane::framework::ObjectType ShelfObject::object_type() {
  return {"corolane.codegen_test.Shelf", methods_of_Shelf, symbol_comments};
}

const char* ShelfObject::service_name() const {
  return "corolane.codegen_test.Shelf";
}

std::span<const ::corolane::rpc::Method> ShelfObject::methods() const {
  return methods_of_Shelf;
}

std::span<const ::corolane::rpc::SymbolComment> ShelfObject::comments() const {
  return symbol_comments;
}

::corolane::Result<Copies> ShelfClient::put(
    const Copy& request,
    const ::corolane::rpc::CallOptions& options) {
  ::corolane::Result<Copies> reply;
  auto called = router_->call(methods_of_Shelf[0], id_, request, *reply, options);
  if (!called) reply = std::move(called).error();
  return reply;
}

::corolane::Result<Copies> ShelfClient::look(
    const Title& request,
    const ::corolane::rpc::CallOptions& options) {
  ::corolane::Result<Copies> reply;
  auto called = router_->call(methods_of_Shelf[1], id_, request, *reply, options);
  if (!called) reply = std::move(called).error();
  return reply;
}

::corolane::Result<void> ShelfClient::dust(
    const ::google::protobuf::Empty& request,
    const ::corolane::rpc::CallOptions& options) {
  return router_->notify(methods_of_Shelf[2], id_, request, options);
}

::corolane::framework::Subscription<Copy> ShelfClient::subscribe() const {
  return {*router_, "corolane.codegen_test.Shelf", id_};
}

}  // namespace corolane::codegen_test
