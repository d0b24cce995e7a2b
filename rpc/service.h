// What protoc-gen-corolane generates against: a service is a table of methods.
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

// Which calls a loaded server serves first, and refuses last: those of the earlier classes.
enum class Priority : std::uint8_t {
  control,     // What keeps the cluster going.
  in_session,  // Of players who are in a game: what methods are unless they say otherwise.
  login,       // Of those who want to come in.
  background,  // What may wait for a quiet hour.
};
inline constexpr std::size_t priority_count = 4;

// Takes what a handler answers and sends it at once.
class ReplySink {
 public:
  // The one reply of a unary call, whose content may be taken. Suspends while the caller takes
  // nothing. Fails with resource_exhausted when the reply is too large for a frame; nothing was
  // sent then.
  virtual Result<void> reply(google::protobuf::Message& message) = 0;

  // The next message of a stream. Suspends while the caller has a window full of them unread. Fails
  // as reply() does, and with cancelled or unavailable when nobody listens any more.
  virtual Result<void> write(const google::protobuf::Message& message) = 0;

 protected:
  ~ReplySink() = default;
};

// One method as both sides know it. Lives for the whole program.
struct Method {
  const char* full_name;  // "package.Service/Method".
  std::uint64_t id;       // method_id(full_name).
  Duration timeout;       // When the caller gives no deadline.
  std::size_t stack_size_bytes;
  Priority priority = Priority::in_session;
  bool idempotent = false;        // May be called again although it may have been executed.
  bool one_way = false;           // Has no reply.
  bool server_streaming = false;  // Replies with any number of messages.
  bool is_public = false;         // For clients outside of the cluster, too.
  // It passes calls on, and knows whether their handlers have begun: its errors may say
  // not_executed, which is taken away from those of other methods.
  bool passes_on = false;
  // Of objects (framework/objects/object.h).
  bool durable = false;    // Replies when what the object keeps is stored.
  bool read_only = false;  // Changes nothing that it keeps.

  google::protobuf::Message* (*new_request)(google::protobuf::Arena* arena) = nullptr;
  // For calls within a process; null of methods without one reply. The second moves the content of
  // one reply into another one.
  google::protobuf::Message* (*new_reply)(google::protobuf::Arena* arena) = nullptr;
  void (*take_reply)(google::protobuf::Message& from, google::protobuf::Message& to) = nullptr;
  // Calls the handler and gives what it answers to the sink; returns the error of either.
  Result<void> (*invoke)(Service& service, const google::protobuf::Message& request,
                         Context& context, ReplySink& sink) = nullptr;
};

// What the .proto says of one of its parts, for people who ask through reflection.
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
  // Of itself, its methods and all that their messages are made of.
  virtual std::span<const SymbolComment> comments() const { return {}; }
};

}  // namespace corolane::rpc
