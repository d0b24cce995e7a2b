// Generated from test/rpc/codegen/library.proto by protoc-gen-corolane: edit that file instead.
//
// A service and a type of objects, for the golden files of the code generator.
//
// A server implements XBase and registers it with rpc::Server::add();
// a caller wraps an rpc::Client in an XClient.
// A node implements XObject and registers it with framework::Node::host();
// a caller gives the id of the object to an XClient.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "coroutine/base/result.h"
#include "framework/objects/object.h"
#include "framework/objects/publishing_object.h"
#include "framework/push/subscription.h"
#include "framework/routing/router.h"
#include "google/protobuf/empty.pb.h"
#include "rpc/client/client.h"
#include "rpc/context.h"
#include "rpc/service.h"
#include "rpc/stream.h"
#include "test/rpc/codegen/library.pb.h"

namespace corolane::codegen_test {

// Lends out books.
//
// Nobody pays for that.
//
// It is open day and night.
class LibraryBase
    : public ::corolane::rpc::Service {
 public:
  // Lends one copy. Fails with not_found when all copies are lent out.
  //
  // Callers wait 250ms at most unless they have another deadline.
  // Runs on a stack of 128KiB.
  // Idempotent: may be run again for a call that has taken effect.
  // Public: clients may call it, with any request.
  // Control: a loaded server refuses it last.
  virtual ::corolane::Result<Copy> lend(
      const Title& request,
      ::corolane::rpc::Context& context) = 0;

  // Every copy on the shelves, and then each one that comes back.
  //
  // Streams: write() the messages to `out`; the returned result ends the stream.
  // Lasts 10s at most unless the caller has another deadline.
  // Login: a loaded server refuses it before calls in a session.
  virtual ::corolane::Result<void> browse(
      const Title& request,
      ::corolane::rpc::Writer<Copy>& out,
      ::corolane::rpc::Context& context) = 0;

  // A reader may read it.
  //
  // One-way: no caller sees the returned result.
  // Cancelled after 1500ms unless the caller has another deadline.
  // Background: a loaded server refuses it first.
  // Deprecated.
  virtual ::corolane::Result<void> suggest(
      const Title& request,
      ::corolane::rpc::Context& context) = 0;

  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// Lends out books.
//
// Nobody pays for that.
//
// It is open day and night.
//
// Calls Library on a server.
// Each call suspends until it is answered, for at most 10s,
// unless its method or its options say otherwise.
class LibraryClient {
 public:
  // `client` outlives it.
  explicit LibraryClient(::corolane::rpc::Client& client) : client_(&client) {}

  // Lends one copy. Fails with not_found when all copies are lent out.
  //
  // Waits 250ms at most unless the options have a deadline.
  // Idempotent: may be retried even though it may have taken effect.
  // Control: a loaded server refuses it last.
  ::corolane::Result<Copy> lend(
      const Title& request,
      const ::corolane::rpc::CallOptions& options = {});

  // Every copy on the shelves, and then each one that comes back.
  //
  // Streams: read() one message after the other; then finish() says how it ended.
  // Lasts 10s at most unless the options have a deadline.
  // Login: a loaded server refuses it before calls in a session.
  ::corolane::rpc::Reader<Copy> browse(
      const Title& request,
      const ::corolane::rpc::CallOptions& options = {});

  // A reader may read it.
  //
  // One-way: returns when the request is on its way; its outcome is not reported.
  // Given up after 1500ms unless the options have a deadline.
  // Background: a loaded server refuses it first.
  // Deprecated.
  ::corolane::Result<void> suggest(
      const Title& request,
      const ::corolane::rpc::CallOptions& options = {});

 private:
  ::corolane::rpc::Client* client_;
};

// Holds copies of one title.
class ShelfObject
    : public ::corolane::framework::PublishingObject<Copies, Copy> {
 public:
  // Durable: its reply waits until the state is stored.
  virtual ::corolane::Result<Copies> put(
      const Copy& request,
      ::corolane::rpc::Context& context) = 0;

  // Read-only: runs at the same time as other read-only calls.
  virtual ::corolane::Result<Copies> look(
      const Title& request,
      ::corolane::rpc::Context& context) const = 0;

  // One-way: no caller sees the returned result.
  virtual ::corolane::Result<void> dust(
      const ::google::protobuf::Empty& request,
      ::corolane::rpc::Context& context) = 0;

  static ::corolane::framework::ObjectType object_type();
  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// Holds copies of one title.
//
// Calls the Shelf with an id, wherever it lives.
// Each call suspends until it is answered, for at most 10s,
// unless its method or its options say otherwise.
class ShelfClient {
 public:
  // `router` outlives it.
  ShelfClient(::corolane::framework::Router& router, std::string id)
      : router_(&router), id_(std::move(id)) {}

  // Durable: no crash undoes a call that was answered.
  ::corolane::Result<Copies> put(
      const Copy& request,
      const ::corolane::rpc::CallOptions& options = {});

  ::corolane::Result<Copies> look(
      const Title& request,
      const ::corolane::rpc::CallOptions& options = {});

  // One-way: returns when the request is on its way; its outcome is not reported.
  ::corolane::Result<void> dust(
      const ::google::protobuf::Empty& request,
      const ::corolane::rpc::CallOptions& options = {});

  // Subscribes to what it publishes from now on, wherever it lives: next() returns one
  // message after the other. Never suspends.
  ::corolane::framework::Subscription<Copy> subscribe() const;

 private:
  ::corolane::framework::Router* router_;
  std::string id_;
};

}  // namespace corolane::codegen_test
