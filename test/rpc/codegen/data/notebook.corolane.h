// Generated from test/rpc/codegen/notebook.proto by protoc-gen-corolane: edit that file instead.
//
// All features of a service, for the tests of the code generator.
//
// A server implements XBase and registers it with rpc::Server::add(); a caller wraps an rpc::Client
// in an XClient.
#pragma once

#include <span>

#include "coroutine/base/result.h"
#include "google/protobuf/empty.pb.h"
#include "rpc/client/client.h"
#include "rpc/context.h"
#include "rpc/service.h"
#include "rpc/stream.h"
#include "test/rpc/codegen/notebook.pb.h"
#include "test/rpc/codegen/stationery/paper.pb.h"

namespace corolane::codegen_test {

// Keeps notes, in the order in which they were written.
//
// Nothing is kept beyond the end of the process.
//
// Most people have one.
class NotebookBase : public ::corolane::rpc::Service {
 public:
  // Writes a note below the others. Fails with invalid_argument when there is nothing to write,
  // and with resource_exhausted on the last line.
  //
  // Callers wait 250ms at most unless they have another deadline. Runs on a stack of 128KiB.
  // Public: clients may call it, with any request.
  virtual ::corolane::Result<Note_Place> write_note(const WriteNoteRequest& request,
                                                    ::corolane::rpc::Context& context) = 0;

  // Tears everything out \.
  // and starts again. Really??/.
  //
  // Callers wait 1500ms at most unless they have another deadline. Idempotent: may be run again for
  // a call that has taken effect.
  virtual ::corolane::Result<::google::protobuf::Empty> empty(
      const ::google::protobuf::Empty& request, ::corolane::rpc::Context& context) = 0;

  // Callers wait 1500us at most unless they have another deadline. Runs on a stack of 20KB.
  virtual ::corolane::Result<::corolane::codegen_test::stationery::Paper>
  add_paper_that_somebody_else_has_made(const ::corolane::codegen_test::stationery::Paper& request,
                                        ::corolane::rpc::Context& context) = 0;

  // Every note from a place on, and then each new one.
  //
  // Streams: write() the messages to `out`; the returned result ends the stream. Lasts 1h at most
  // unless the caller has another deadline. Public: clients may call it, with any request. Login: a
  // loaded server refuses it before calls in a session.
  virtual ::corolane::Result<void> read_on(const Note_Place& request,
                                           ::corolane::rpc::Writer<Note>& out,
                                           ::corolane::rpc::Context& context) = 0;

  // Streams: write() the messages to `out`; the returned result ends the stream. Lasts 10s at most
  // unless the caller has another deadline.
  virtual ::corolane::Result<void> read_the_papers_that_somebody_else_has_made(
      const ::corolane::codegen_test::stationery::Paper& request,
      ::corolane::rpc::Writer<::corolane::codegen_test::stationery::Paper>& out,
      ::corolane::rpc::Context& context) = 0;

  // It may never be read.
  //
  // One-way: no caller sees the returned result. Background: a loaded server refuses it first.
  virtual ::corolane::Result<void> scribble(const Note& request,
                                            ::corolane::rpc::Context& context) = 0;

  // One-way: no caller sees the returned result. Cancelled after 5s unless the caller has another
  // deadline. Control: a loaded server refuses it last.
  virtual ::corolane::Result<void> burn(const ::google::protobuf::Empty& request,
                                        ::corolane::rpc::Context& context) = 0;

  // See WriteNote.
  //
  // Idempotent: may be run again for a call that has taken effect. Deprecated.
  virtual ::corolane::Result<Note_Place> append(const WriteNoteRequest& request,
                                                ::corolane::rpc::Context& context) = 0;

  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// Keeps notes, in the order in which they were written.
//
// Nothing is kept beyond the end of the process.
//
// Most people have one.
//
// Calls Notebook on a server. Each call suspends until it is answered, for at most 10s unless its
// method or its options say otherwise.
class NotebookClient {
 public:
  // `client` outlives it.
  explicit NotebookClient(::corolane::rpc::Client& client) : client_(&client) {}

  // Writes a note below the others. Fails with invalid_argument when there is nothing to write,
  // and with resource_exhausted on the last line.
  //
  // Waits 250ms at most unless the options have a deadline.
  ::corolane::Result<Note_Place> write_note(const WriteNoteRequest& request,
                                            ::corolane::rpc::CallOptions options = {});

  // Tears everything out \.
  // and starts again. Really??/.
  //
  // Waits 1500ms at most unless the options have a deadline. Idempotent: may be retried even though
  // it may have taken effect.
  ::corolane::Result<::google::protobuf::Empty> empty(const ::google::protobuf::Empty& request,
                                                      ::corolane::rpc::CallOptions options = {});

  // Waits 1500us at most unless the options have a deadline.
  ::corolane::Result<::corolane::codegen_test::stationery::Paper>
  add_paper_that_somebody_else_has_made(const ::corolane::codegen_test::stationery::Paper& request,
                                        ::corolane::rpc::CallOptions options = {});

  // Every note from a place on, and then each new one.
  //
  // Streams: read() one message after the other until there is none, then finish() says how it
  // ended. Lasts 1h at most unless the options have a deadline. Login: a loaded server refuses it
  // before calls in a session.
  ::corolane::rpc::Reader<Note> read_on(const Note_Place& request,
                                        ::corolane::rpc::CallOptions options = {});

  // Streams: read() one message after the other until there is none, then finish() says how it
  // ended. Lasts 10s at most unless the options have a deadline.
  ::corolane::rpc::Reader<::corolane::codegen_test::stationery::Paper>
  read_the_papers_that_somebody_else_has_made(
      const ::corolane::codegen_test::stationery::Paper& request,
      ::corolane::rpc::CallOptions options = {});

  // It may never be read.
  //
  // One-way: returns when the request is on its way; its outcome is not reported. Background: a
  // loaded server refuses it first.
  ::corolane::Result<void> scribble(const Note& request, ::corolane::rpc::CallOptions options = {});

  // One-way: returns when the request is on its way; its outcome is not reported. Given up after 5s
  // unless the options have a deadline. Control: a loaded server refuses it last.
  ::corolane::Result<void> burn(const ::google::protobuf::Empty& request,
                                ::corolane::rpc::CallOptions options = {});

  // See WriteNote.
  //
  // Idempotent: may be retried even though it may have taken effect. Deprecated.
  ::corolane::Result<Note_Place> append(const WriteNoteRequest& request,
                                        ::corolane::rpc::CallOptions options = {});

 private:
  ::corolane::rpc::Client* client_;
};

// A service may have no methods yet.
class PencilBase : public ::corolane::rpc::Service {
 public:
  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// A service may have no methods yet.
//
// Calls Pencil on a server. Each call suspends until it is answered, for at most 10s unless its
// method or its options say otherwise.
class PencilClient {
 public:
  // `client` outlives it.
  explicit PencilClient(::corolane::rpc::Client& client) : client_(&client) {}

 private:
  ::corolane::rpc::Client* client_;
};

}  // namespace corolane::codegen_test
