// Generated from test/rpc/codegen/diary.proto by protoc-gen-corolane: edit that file instead.
//
// Objects and a service beside each other, for the tests of the code generator.
//
// A server implements XBase and registers it with rpc::Server::add(); a caller wraps an rpc::Client
// in an XClient. A node implements XObject and registers it with framework::Node::host(); a caller
// gives the id of the object to an XClient.
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
#include "test/rpc/codegen/diary.pb.h"
#include "test/rpc/codegen/stationery/catalogue.pb.h"
#include "test/rpc/codegen/stationery/paper.pb.h"

namespace corolane::codegen_test {

// A diary, written day by day.
//
// Each belongs to one person.
//
// With a lock.
class DiaryObject : public ::corolane::framework::PublishingObject<Binding_Pages, Entry> {
 public:
  // Writes below the rest.
  virtual ::corolane::Result<Entry_Number> write(const Entry& request,
                                                 ::corolane::rpc::Context& context) = 0;

  // Like Write, but permanent.
  //
  // Callers wait 2s at most unless they have another deadline. Idempotent: may be run again for a
  // call that has taken effect. Durable: its reply waits until the state is stored.
  virtual ::corolane::Result<Entry_Number> write_in_ink(const Entry& request,
                                                        ::corolane::rpc::Context& context) = 0;

  // Reads one entry.
  //
  // Read-only: runs at the same time as other read-only calls. Public: clients may call it, with
  // any request.
  virtual ::corolane::Result<Entry> read(const Entry_Number& request,
                                         ::corolane::rpc::Context& context) const = 0;

  // One-way: no caller sees the returned result.
  virtual ::corolane::Result<void> doodle(const Entry& request,
                                          ::corolane::rpc::Context& context) = 0;

  // For an onlooker who looks over a shoulder.
  //
  // One-way: no caller sees the returned result. Cancelled after 5s unless the caller has another
  // deadline. Read-only: runs at the same time as other read-only calls.
  virtual ::corolane::Result<void> tell_what_somebody_has_read_in_it(
      const Entry_Number& request, ::corolane::rpc::Context& context) const = 0;

  static ::corolane::framework::ObjectType object_type();
  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// A diary, written day by day.
//
// Each belongs to one person.
//
// With a lock.
//
// Calls the Diary with an id, wherever it lives. Each call suspends until it is answered, for at
// most 10s unless its method or its options say otherwise.
class DiaryClient {
 public:
  // `router` outlives it.
  DiaryClient(::corolane::framework::Router& router, std::string id)
      : router_(&router), id_(std::move(id)) {}

  // Writes below the rest.
  ::corolane::Result<Entry_Number> write(const Entry& request,
                                         ::corolane::rpc::CallOptions options = {});

  // Like Write, but permanent.
  //
  // Waits 2s at most unless the options have a deadline. Durable: no crash undoes a call that was
  // answered. Idempotent: may be retried even though it may have taken effect.
  ::corolane::Result<Entry_Number> write_in_ink(const Entry& request,
                                                ::corolane::rpc::CallOptions options = {});

  // Reads one entry.
  ::corolane::Result<Entry> read(const Entry_Number& request,
                                 ::corolane::rpc::CallOptions options = {});

  // One-way: returns when the request is on its way; its outcome is not reported.
  ::corolane::Result<void> doodle(const Entry& request, ::corolane::rpc::CallOptions options = {});

  // For an onlooker who looks over a shoulder.
  //
  // One-way: returns when the request is on its way; its outcome is not reported. Given up after 5s
  // unless the options have a deadline.
  ::corolane::Result<void> tell_what_somebody_has_read_in_it(
      const Entry_Number& request, ::corolane::rpc::CallOptions options = {});

  // Subscribes to what it publishes from now on, wherever it lives: next() returns one message
  // after the other. Never suspends.
  ::corolane::framework::Subscription<Entry> subscribe() const;

 private:
  ::corolane::framework::Router* router_;
  std::string id_;
};

// Its state is from another package.
class EnvelopeOfNoReturnObject : public ::corolane::framework::PublishingObject<
                                     ::corolane::codegen_test::stationery::Article_Price,
                                     ::corolane::codegen_test::stationery::Article_Price> {
 public:
  // Durable: its reply waits until the state is stored.
  virtual ::corolane::Result<::corolane::codegen_test::stationery::Article_Price> put_inside(
      const ::corolane::codegen_test::stationery::Article& request,
      ::corolane::rpc::Context& context) = 0;

  static ::corolane::framework::ObjectType object_type();
  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// Its state is from another package.
//
// Calls the EnvelopeOfNoReturn with an id, wherever it lives. Each call suspends until it is
// answered, for at most 10s unless its method or its options say otherwise.
class EnvelopeOfNoReturnClient {
 public:
  // `router` outlives it.
  EnvelopeOfNoReturnClient(::corolane::framework::Router& router, std::string id)
      : router_(&router), id_(std::move(id)) {}

  // Durable: no crash undoes a call that was answered.
  ::corolane::Result<::corolane::codegen_test::stationery::Article_Price> put_inside(
      const ::corolane::codegen_test::stationery::Article& request,
      ::corolane::rpc::CallOptions options = {});

  // Subscribes to what it publishes from now on, wherever it lives: next() returns one message
  // after the other. Never suspends.
  ::corolane::framework::Subscription<::corolane::codegen_test::stationery::Article_Price>
  subscribe() const;

 private:
  ::corolane::framework::Router* router_;
  std::string id_;
};

// A type of objects may have no methods yet. Its state comes through a public import.
class StackObject
    : public ::corolane::framework::Object<::corolane::codegen_test::stationery::Paper> {
 public:
  static ::corolane::framework::ObjectType object_type();
  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// A type of objects may have no methods yet. Its state comes through a public import.
//
// Calls the Stack with an id, wherever it lives. Each call suspends until it is answered, for at
// most 10s unless its method or its options say otherwise.
class StackClient {
 public:
  // `router` outlives it.
  StackClient(::corolane::framework::Router& router, std::string id)
      : router_(&router), id_(std::move(id)) {}

 private:
  ::corolane::framework::Router* router_;
  std::string id_;
};

// A service without objects.
class BookbinderBase : public ::corolane::rpc::Service {
 public:
  virtual ::corolane::Result<Binding> bind(const Binding_Pages& request,
                                           ::corolane::rpc::Context& context) = 0;

  // Messages may have the names of base classes of generated classes.
  virtual ::corolane::Result<::corolane::codegen_test::Service> clean(
      const ::corolane::codegen_test::Object& request, ::corolane::rpc::Context& context) = 0;

  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// A service without objects.
//
// Calls Bookbinder on a server. Each call suspends until it is answered, for at most 10s unless its
// method or its options say otherwise.
class BookbinderClient {
 public:
  // `client` outlives it.
  explicit BookbinderClient(::corolane::rpc::Client& client) : client_(&client) {}

  ::corolane::Result<Binding> bind(const Binding_Pages& request,
                                   ::corolane::rpc::CallOptions options = {});

  // Messages may have the names of base classes of generated classes.
  ::corolane::Result<::corolane::codegen_test::Service> clean(
      const ::corolane::codegen_test::Object& request, ::corolane::rpc::CallOptions options = {});

 private:
  ::corolane::rpc::Client* client_;
};

}  // namespace corolane::codegen_test
