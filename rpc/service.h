// SPDX-License-Identifier: MIT
// The types that protoc-gen-corolane generates code against: a service is a table of methods.
//
//   for (const rpc::Method& method : service.methods()) {
//     std::cout << method.full_name << (method.is_public ? ", public" : "") << '\n';
//   }
//
// For `service Chess` the plugin writes an abstract ChessBase, whose methods are linear functions
// for the user to implement, and a typed ChessClient. Users name neither Method nor Service.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "rpc/context.h"

namespace corolane::rpc {

class Service;

// A loaded server serves the calls of earlier classes first and refuses them last.
enum class Priority : std::uint8_t {
  control,     // Calls that keep the cluster going.
  in_session,  // Calls of players who are in a game: the default.
  login,       // Calls of players who want to come in.
  background,  // Work that may wait for a quiet hour.
};
inline constexpr std::size_t priority_count = 4;

// The messages of a call, as its handler reads and writes them.
class Messages {
 public:
  // Reads the next message of a caller that sends a stream of them; false at its end. Suspends
  // until it is there. Fails with cancelled when the caller is gone or the deadline has passed,
  // with invalid_argument for a malformed message.
  virtual Result<bool> read(google::protobuf::Message& message) {
    return Error(Code::unimplemented, "the caller sends no stream of " + message.GetTypeName());
  }

  // Sends the one reply of a unary call; may move its content out. Suspends while the caller takes
  // nothing. Fails with resource_exhausted, and sends nothing, when the reply is too large for a
  // frame.
  virtual Result<void> reply(google::protobuf::Message& message) = 0;

  // Sends the next message of a stream. Suspends while the caller has a full window unread. Fails
  // as reply() does, and with cancelled or unavailable when the caller is gone.
  virtual Result<void> write(const google::protobuf::Message& message) = 0;

 protected:
  ~Messages() = default;
};

// One method as both sides know it. Lives for the whole program.
struct Method {
  const char* full_name;  // "package.Service/Method".
  std::uint64_t id;       // method_id(full_name).
  Duration timeout;       // The default when the caller gives no deadline.
  std::size_t stack_size_bytes;
  Priority priority = Priority::in_session;
  bool idempotent = false;        // May be retried even though it may have been executed.
  bool one_way = false;           // Has no reply.
  bool client_streaming = false;  // Is called with any number of messages.
  bool server_streaming = false;  // Replies with any number of messages.
  bool is_public = false;         // Clients outside the cluster may call it.
  // The method forwards calls and knows whether their handlers have begun: its errors may carry
  // not_executed, which is stripped from the errors of other methods.
  bool passes_on = false;
  // For objects (framework/objects/object.h).
  bool durable = false;    // Replies when the object's state is stored.
  bool read_only = false;  // Does not change the object's state.
  // For public methods: the most that clients get; less than the timeout: as much as that.
  Duration timeout_max{};

  google::protobuf::Message* (*new_request)(google::protobuf::Arena* arena) = nullptr;
  // For calls within a process, and for routers. Null for one-way methods.
  google::protobuf::Message* (*new_reply)(google::protobuf::Arena* arena) = nullptr;
  // Moves the content of one reply into another. Null for methods without exactly one reply.
  void (*take_reply)(google::protobuf::Message& from, google::protobuf::Message& to) = nullptr;
  // Calls the handler and passes its answer on; returns the error of either. `request` is empty
  // when the caller sends a stream.
  Result<void> (*invoke)(Service& service, const google::protobuf::Message& request,
                         Context& context, Messages& messages) = nullptr;

  bool is_stream() const { return client_streaming || server_streaming; }
};

// The .proto comment of one symbol, for users of reflection.
struct SymbolComment {
  const char* symbol;  // "package.Service.Method", "package.Message.field".
  const char* text;    // Lines without slashes.
};

class Service {
 public:
  virtual ~Service() = default;
  // "package.Service".
  virtual const char* service_name() const = 0;
  virtual std::span<const Method> methods() const = 0;
  // The comments of the service, its methods and their message types, recursively.
  virtual std::span<const SymbolComment> comments() const { return {}; }
};

}  // namespace corolane::rpc
