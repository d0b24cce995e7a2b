// Generated from test/rpc/codegen/notebook.proto by protoc-gen-corolane: edit that file instead.
#include "test/rpc/codegen/notebook.corolane.h"

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

template <typename Base, typename Request, typename Reply, auto handler>
::corolane::Result<void> invoke_stream(::corolane::rpc::Service& service,
                                       const ::google::protobuf::Message& request,
                                       ::corolane::rpc::Context& context,
                                       ::corolane::rpc::ReplySink& sink) {
  auto& base = static_cast<Base&>(service);
  ::corolane::rpc::Writer<Reply> out(sink);
  return (base.*handler)(static_cast<const Request&>(request), out, context);
}

template <typename Base, typename Request, auto handler>
::corolane::Result<void> invoke_one_way(::corolane::rpc::Service& service,
                                        const ::google::protobuf::Message& request,
                                        ::corolane::rpc::Context& context,
                                        ::corolane::rpc::ReplySink&) {
  auto& base = static_cast<Base&>(service);
  return (base.*handler)(static_cast<const Request&>(request), context);
}

constexpr std::array<::corolane::rpc::Method, 8> methods_of_Notebook = {{
    {
        .full_name = "corolane.codegen_test.Notebook/WriteNote",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Notebook/WriteNote"),
        .timeout = std::chrono::milliseconds(250),
        .stack_size_bytes = 128 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .server_streaming = false,
        .is_public = true,
        .durable = false,
        .read_only = false,
        .new_request = new_message<WriteNoteRequest>,
        .new_reply = new_message<Note_Place>,
        .take_reply = take_reply<Note_Place>,
        .invoke = invoke_unary<NotebookBase, WriteNoteRequest, &NotebookBase::write_note>,
    },
    {
        .full_name = "corolane.codegen_test.Notebook/Empty",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Notebook/Empty"),
        .timeout = std::chrono::milliseconds(1500),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = true,
        .one_way = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<::google::protobuf::Empty>,
        .new_reply = new_message<::google::protobuf::Empty>,
        .take_reply = take_reply<::google::protobuf::Empty>,
        .invoke = invoke_unary<NotebookBase, ::google::protobuf::Empty, &NotebookBase::empty>,
    },
    {
        .full_name = "corolane.codegen_test.Notebook/AddPaperThatSomebodyElseHasMade",
        .id = ::corolane::rpc::method_id(
            "corolane.codegen_test.Notebook/AddPaperThatSomebodyElseHasMade"),
        .timeout = std::chrono::nanoseconds(1500000),
        .stack_size_bytes = 20000,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<::corolane::codegen_test::stationery::Paper>,
        .new_reply = new_message<::corolane::codegen_test::stationery::Paper>,
        .take_reply = take_reply<::corolane::codegen_test::stationery::Paper>,
        .invoke = invoke_unary<NotebookBase, ::corolane::codegen_test::stationery::Paper,
                               &NotebookBase::add_paper_that_somebody_else_has_made>,
    },
    {
        .full_name = "corolane.codegen_test.Notebook/ReadOn",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Notebook/ReadOn"),
        .timeout = std::chrono::seconds(3600),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::login,
        .idempotent = false,
        .one_way = false,
        .server_streaming = true,
        .is_public = true,
        .durable = false,
        .read_only = false,
        .new_request = new_message<Note_Place>,
        .invoke = invoke_stream<NotebookBase, Note_Place, Note, &NotebookBase::read_on>,
    },
    {
        .full_name = "corolane.codegen_test.Notebook/ReadThePapersThatSomebodyElseHasMade",
        .id = ::corolane::rpc::method_id(
            "corolane.codegen_test.Notebook/ReadThePapersThatSomebodyElseHasMade"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = false,
        .one_way = false,
        .server_streaming = true,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<::corolane::codegen_test::stationery::Paper>,
        .invoke = invoke_stream<NotebookBase, ::corolane::codegen_test::stationery::Paper,
                                ::corolane::codegen_test::stationery::Paper,
                                &NotebookBase::read_the_papers_that_somebody_else_has_made>,
    },
    {
        .full_name = "corolane.codegen_test.Notebook/Scribble",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Notebook/Scribble"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::background,
        .idempotent = false,
        .one_way = true,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<Note>,
        .invoke = invoke_one_way<NotebookBase, Note, &NotebookBase::scribble>,
    },
    {
        .full_name = "corolane.codegen_test.Notebook/Burn",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Notebook/Burn"),
        .timeout = std::chrono::seconds(5),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::control,
        .idempotent = false,
        .one_way = true,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<::google::protobuf::Empty>,
        .invoke = invoke_one_way<NotebookBase, ::google::protobuf::Empty, &NotebookBase::burn>,
    },
    {
        .full_name = "corolane.codegen_test.Notebook/Append",
        .id = ::corolane::rpc::method_id("corolane.codegen_test.Notebook/Append"),
        .timeout = std::chrono::seconds(10),
        .stack_size_bytes = 64 * 1024,
        .priority = ::corolane::rpc::Priority::in_session,
        .idempotent = true,
        .one_way = false,
        .server_streaming = false,
        .is_public = false,
        .durable = false,
        .read_only = false,
        .new_request = new_message<WriteNoteRequest>,
        .new_reply = new_message<Note_Place>,
        .take_reply = take_reply<Note_Place>,
        .invoke = invoke_unary<NotebookBase, WriteNoteRequest, &NotebookBase::append>,
    },
}};

constexpr auto symbol_comments = std::to_array<::corolane::rpc::SymbolComment>({
    {"corolane.codegen_test.Notebook",
     "Keeps notes, in the order in which they were written.\n"
     "\n"
     "Nothing is kept beyond the end of the process.\n"
     "\n"
     "Most people have one."},
    {"corolane.codegen_test.Notebook.WriteNote",
     "Writes a note below the others. Fails with invalid_argument when there is nothing to write,\n"
     "and with resource_exhausted on the last line."},
    {"corolane.codegen_test.Notebook.Empty",
     "Tears everything out \\\n"
     "and starts again. Really?\?/"},
    {"corolane.codegen_test.Notebook.ReadOn", "Every note from a place on, and then each new one."},
    {"corolane.codegen_test.Notebook.Scribble", "It may never be read."},
    {"corolane.codegen_test.Notebook.Append", "See WriteNote."},
    {"corolane.codegen_test.Pencil", "A service may have no methods yet."},
    {"corolane.codegen_test.Note", "A note with its answers."},
    {"corolane.codegen_test.Note.text", "Is it \"UTF-8\"?\?"},
    {"corolane.codegen_test.Note.Place", "The place of a note."},
    {"corolane.codegen_test.Note.Place.line", "From 1."},
    {"corolane.codegen_test.stationery.A4", "210 by 297 millimetres."},
});

}  // namespace

const char* NotebookBase::service_name() const { return "corolane.codegen_test.Notebook"; }

std::span<const ::corolane::rpc::Method> NotebookBase::methods() const {
  return methods_of_Notebook;
}

std::span<const ::corolane::rpc::SymbolComment> NotebookBase::comments() const {
  return symbol_comments;
}

::corolane::Result<Note_Place> NotebookClient::write_note(const WriteNoteRequest& request,
                                                          ::corolane::rpc::CallOptions options) {
  ::corolane::Result<Note_Place> reply;
  auto called = client_->call(methods_of_Notebook[0], request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

::corolane::Result<::google::protobuf::Empty> NotebookClient::empty(
    const ::google::protobuf::Empty& request, ::corolane::rpc::CallOptions options) {
  ::corolane::Result<::google::protobuf::Empty> reply;
  auto called = client_->call(methods_of_Notebook[1], request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

::corolane::Result<::corolane::codegen_test::stationery::Paper>
NotebookClient::add_paper_that_somebody_else_has_made(
    const ::corolane::codegen_test::stationery::Paper& request,
    ::corolane::rpc::CallOptions options) {
  ::corolane::Result<::corolane::codegen_test::stationery::Paper> reply;
  auto called = client_->call(methods_of_Notebook[2], request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

::corolane::rpc::Reader<Note> NotebookClient::read_on(const Note_Place& request,
                                                      ::corolane::rpc::CallOptions options) {
  return ::corolane::rpc::Reader<Note>(*client_, methods_of_Notebook[3], request, options);
}

::corolane::rpc::Reader<::corolane::codegen_test::stationery::Paper>
NotebookClient::read_the_papers_that_somebody_else_has_made(
    const ::corolane::codegen_test::stationery::Paper& request,
    ::corolane::rpc::CallOptions options) {
  return ::corolane::rpc::Reader<::corolane::codegen_test::stationery::Paper>(
      *client_, methods_of_Notebook[4], request, options);
}

::corolane::Result<void> NotebookClient::scribble(const Note& request,
                                                  ::corolane::rpc::CallOptions options) {
  return client_->notify(methods_of_Notebook[5], request, options);
}

::corolane::Result<void> NotebookClient::burn(const ::google::protobuf::Empty& request,
                                              ::corolane::rpc::CallOptions options) {
  return client_->notify(methods_of_Notebook[6], request, options);
}

::corolane::Result<Note_Place> NotebookClient::append(const WriteNoteRequest& request,
                                                      ::corolane::rpc::CallOptions options) {
  ::corolane::Result<Note_Place> reply;
  auto called = client_->call(methods_of_Notebook[7], request, *reply, options);
  if (!called) return std::move(called).error();
  return reply;
}

const char* PencilBase::service_name() const { return "corolane.codegen_test.Pencil"; }

std::span<const ::corolane::rpc::Method> PencilBase::methods() const { return {}; }

std::span<const ::corolane::rpc::SymbolComment> PencilBase::comments() const {
  return symbol_comments;
}

}  // namespace corolane::codegen_test
