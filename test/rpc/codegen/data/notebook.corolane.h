// Made from test/rpc/codegen/notebook.proto by protoc-gen-corolane: change that file instead.
//
// A server implements XBase and is given it by rpc::Server::add(); a caller wraps an
// rpc::Client into an XClient.
#pragma once

#include <span>

#include "coroutine/base/result.h"
#include "google/protobuf/empty.pb.h"
#include "rpc/client.h"
#include "rpc/context.h"
#include "rpc/service.h"
#include "test/rpc/codegen/notebook.pb.h"
#include "test/rpc/codegen/stationery/paper.pb.h"

namespace corolane::codegen_test {

// Keeps notes, in the order in which they were written.
//
// Nothing is kept beyond the end of the process.
class NotebookBase : public ::corolane::rpc::Service {
 public:
  // Writes a note below the others. Fails with invalid_argument when there is nothing to write,
  // and with resource_exhausted on the last line.
  virtual ::corolane::Result<Note_Place> write_note(const WriteNoteRequest& request,
                                                    ::corolane::rpc::Context& context) = 0;

  // Tears everything out \.
  // and starts again. \.
  virtual ::corolane::Result<::google::protobuf::Empty> empty(
      const ::google::protobuf::Empty& request, ::corolane::rpc::Context& context) = 0;

  virtual ::corolane::Result<::corolane::codegen_test::stationery::Paper>
  add_paper_that_somebody_else_has_made(const ::corolane::codegen_test::stationery::Paper& request,
                                        ::corolane::rpc::Context& context) = 0;

  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
};

// Calls Notebook on a server. Suspends in each call until the reply is there.
class NotebookClient {
 public:
  // `client` outlives it.
  explicit NotebookClient(::corolane::rpc::Client& client) : client_(&client) {}

  ::corolane::Result<Note_Place> write_note(const WriteNoteRequest& request,
                                            ::corolane::rpc::CallOptions options = {});
  ::corolane::Result<::google::protobuf::Empty> empty(const ::google::protobuf::Empty& request,
                                                      ::corolane::rpc::CallOptions options = {});
  ::corolane::Result<::corolane::codegen_test::stationery::Paper>
  add_paper_that_somebody_else_has_made(const ::corolane::codegen_test::stationery::Paper& request,
                                        ::corolane::rpc::CallOptions options = {});

 private:
  ::corolane::rpc::Client* client_;
};

// A service may wait for its first method.
class PencilBase : public ::corolane::rpc::Service {
 public:
  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
};

// Calls Pencil on a server. Suspends in each call until the reply is there.
class PencilClient {
 public:
  // `client` outlives it.
  explicit PencilClient(::corolane::rpc::Client& client) : client_(&client) {}

 private:
  ::corolane::rpc::Client* client_;
};

}  // namespace corolane::codegen_test
