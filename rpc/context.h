// What a handler knows of the call that it serves.
#pragma once

#include <cstdint>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "net/endpoint.h"

namespace corolane::rpc {

class Context {
 public:
  Context(Deadline deadline, std::string_view method, std::uint64_t connection_id,
          const net::Endpoint& peer)
      : deadline_(deadline), method_(method), connection_id_(connection_id), peer_(peer) {}

  // Until when the caller waits: hand it down to every wait and call. When it passes, or when
  // the caller gives up or vanishes, the handler's task is cancelled.
  Deadline deadline() const { return deadline_; }

  // "package.Service/Method".
  std::string_view method() const { return method_; }

  // Unique within the server; the same for all calls of one connection.
  std::uint64_t connection_id() const { return connection_id_; }
  const net::Endpoint& peer() const { return peer_; }

 private:
  Deadline deadline_;
  std::string_view method_;
  std::uint64_t connection_id_;
  net::Endpoint peer_;
};

}  // namespace corolane::rpc
