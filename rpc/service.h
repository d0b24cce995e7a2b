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

// Takes the reply of a handler and sends it at once.
class ReplySink {
 public:
  // Suspends while the caller takes nothing. Fails with resource_exhausted when the reply is too
  // large for a frame; nothing was sent then.
  virtual Result<void> reply(const google::protobuf::Message& message) = 0;

 protected:
  ~ReplySink() = default;
};

// One method as both sides know it. Lives for the whole program.
struct Method {
  const char* full_name;  // "package.Service/Method".
  std::uint64_t id;       // method_id(full_name).
  Duration timeout;       // When the caller gives no deadline.
  std::size_t stack_size_bytes;

  google::protobuf::Message* (*new_request)(google::protobuf::Arena& arena);
  // Calls the handler and gives its reply to the sink; returns the error of either.
  Result<void> (*invoke)(Service& service, const google::protobuf::Message& request,
                         Context& context, ReplySink& sink);
};

class Service {
 public:
  virtual ~Service() = default;
  // "package.Service".
  virtual const char* service_name() const = 0;
  virtual std::span<const Method> methods() const = 0;
};

}  // namespace corolane::rpc
