// Made from test/rpc/codegen/diary.proto by protoc-gen-corolane: change that file instead.
//
// Objects and a service beside each other, for the tests of the code generator.
//
// A server implements XBase and is given it by rpc::Server::add(); a caller wraps an rpc::Client
// into an XClient. A node implements XObject and is given it by framework::Node::host(); a caller
// names the id of the object to an XClient.
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

// What somebody writes, day by day.
//
// Each belongs to one person.
//
// With a lock.
class DiaryObject : public ::corolane::framework::PublishingObject<Binding_Pages, Entry> {
 public:
  // Writes below the rest.
  virtual ::corolane::Result<Entry_Number> write(const Entry& request,
                                                 ::corolane::rpc::Context& context) = 0;

  // As Write, but for good.
  //
  // Callers wait 2s at most unless they have another deadline. Idempotent: may be run again for a
  // call that has taken effect. Durable: its reply waits until the state is stored.
  virtual ::corolane::Result<Entry_Number> write_in_ink(const Entry& request,
                                                        ::corolane::rpc::Context& context) = 0;

  // Of the one that there is.
  //
  // Read-only: runs at the same time as others that are. Public: clients may call it, with any
  // request.
  virtual ::corolane::Result<Entry> read(const Entry_Number& request,
                                         ::corolane::rpc::Context& context) const = 0;

  // One-way: no caller sees what is returned.
  virtual ::corolane::Result<void> doodle(const Entry& request,
                                          ::corolane::rpc::Context& context) = 0;

  // For whoever looks over a shoulder.
  //
  // One-way: no caller sees what is returned. Cancelled after 5s unless the caller has another
  // deadline. Read-only: runs at the same time as others that are.
  virtual ::corolane::Result<void> tell_what_somebody_has_read_in_it(
      const Entry_Number& request, ::corolane::rpc::Context& context) const = 0;

  static ::corolane::framework::ObjectType object_type();
  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// What somebody writes, day by day.
//
// Each belongs to one person.
//
// With a lock.
//
// Calls the Diary of an id, wherever it lives. Each call suspends until it is answered: at most 10s
// where neither its method nor its options say otherwise.
class DiaryClient {
 public:
  // `router` outlives it.
  DiaryClient(::corolane::framework::Router& router, std::string id)
      : router_(&router), id_(std::move(id)) {}

  // Writes below the rest.
  ::corolane::Result<Entry_Number> write(const Entry& request,
                                         ::corolane::rpc::CallOptions options = {});

  // As Write, but for good.
  //
  // Waits 2s at most unless the options have a deadline. Durable: no crash undoes what it has
  // replied. Idempotent: may be tried again even though it may have taken effect.
  ::corolane::Result<Entry_Number> write_in_ink(const Entry& request,
                                                ::corolane::rpc::CallOptions options = {});

  // Of the one that there is.
  ::corolane::Result<Entry> read(const Entry_Number& request,
                                 ::corolane::rpc::CallOptions options = {});

  // One-way: returns when the request is on its way; nobody says what becomes of it.
  ::corolane::Result<void> doodle(const Entry& request, ::corolane::rpc::CallOptions options = {});

  // For whoever looks over a shoulder.
  //
  // One-way: returns when the request is on its way; nobody says what becomes of it. Given up after
  // 5s unless the options have a deadline.
  ::corolane::Result<void> tell_what_somebody_has_read_in_it(
      const Entry_Number& request, ::corolane::rpc::CallOptions options = {});

  // What it publishes from now on, wherever it lives: next() is one after the other. Never
  // suspends.
  ::corolane::framework::Subscription<Entry> subscribe() const;

 private:
  ::corolane::framework::Router* router_;
  std::string id_;
};

// Its state is of another package.
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

// Its state is of another package.
//
// Calls the EnvelopeOfNoReturn of an id, wherever it lives. Each call suspends until it is
// answered: at most 10s where neither its method nor its options say otherwise.
class EnvelopeOfNoReturnClient {
 public:
  // `router` outlives it.
  EnvelopeOfNoReturnClient(::corolane::framework::Router& router, std::string id)
      : router_(&router), id_(std::move(id)) {}

  // Durable: no crash undoes what it has replied.
  ::corolane::Result<::corolane::codegen_test::stationery::Article_Price> put_inside(
      const ::corolane::codegen_test::stationery::Article& request,
      ::corolane::rpc::CallOptions options = {});

  // What it publishes from now on, wherever it lives: next() is one after the other. Never
  // suspends.
  ::corolane::framework::Subscription<::corolane::codegen_test::stationery::Article_Price>
  subscribe() const;

 private:
  ::corolane::framework::Router* router_;
  std::string id_;
};

// An object may wait for its first method, too. Its state is seen through a public import.
class StackObject
    : public ::corolane::framework::Object<::corolane::codegen_test::stationery::Paper> {
 public:
  static ::corolane::framework::ObjectType object_type();
  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// An object may wait for its first method, too. Its state is seen through a public import.
//
// Calls the Stack of an id, wherever it lives. Each call suspends until it is answered: at most 10s
// where neither its method nor its options say otherwise.
class StackClient {
 public:
  // `router` outlives it.
  StackClient(::corolane::framework::Router& router, std::string id)
      : router_(&router), id_(std::move(id)) {}

 private:
  ::corolane::framework::Router* router_;
  std::string id_;
};

// Has no objects.
class BookbinderBase : public ::corolane::rpc::Service {
 public:
  virtual ::corolane::Result<Binding> bind(const Binding_Pages& request,
                                           ::corolane::rpc::Context& context) = 0;

  // Messages may have the names of what generated classes inherit from.
  virtual ::corolane::Result<::corolane::codegen_test::Service> clean(
      const ::corolane::codegen_test::Object& request, ::corolane::rpc::Context& context) = 0;

  const char* service_name() const final;
  std::span<const ::corolane::rpc::Method> methods() const final;
  std::span<const ::corolane::rpc::SymbolComment> comments() const final;
};

// Has no objects.
//
// Calls Bookbinder on a server. Each call suspends until it is answered: at most 10s where neither
// its method nor its options say otherwise.
class BookbinderClient {
 public:
  // `client` outlives it.
  explicit BookbinderClient(::corolane::rpc::Client& client) : client_(&client) {}

  ::corolane::Result<Binding> bind(const Binding_Pages& request,
                                   ::corolane::rpc::CallOptions options = {});

  // Messages may have the names of what generated classes inherit from.
  ::corolane::Result<::corolane::codegen_test::Service> clean(
      const ::corolane::codegen_test::Object& request, ::corolane::rpc::CallOptions options = {});

 private:
  ::corolane::rpc::Client* client_;
};

}  // namespace corolane::codegen_test
