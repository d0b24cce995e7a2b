// The calling end of a connection: any number of tasks call at the same time, each as a function
// that returns the reply.
//
//   auto client = rpc::Client::connect(network, {"127.0.0.1", 8460}, Deadline::after(5s));
//   if (!client) return client.error();
//   ChessClient chess(**client);
//   auto reply = chess.move(request, {.deadline = deadline});
//
// A call suspends its task until the reply is there, the deadline passes, the task is cancelled
// or the connection breaks; in all but the first case the server is told to cancel the handler.
// All of it belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <memory>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/network.h"
#include "rpc/service.h"

namespace corolane::rpc {

struct CallOptions {
  // Until when to wait; without one, the method's own timeout counts from now.
  Deadline deadline = Deadline::never();
};

class Client {
 public:
  struct Options {
    std::size_t reply_bytes_max = 4 * 1024 * 1024;
    std::size_t pending_count_max = 4096;  // Calls in flight; one more is resource_exhausted.
  };

  // Suspends until the connection is made and the peer has said hello. Fails as
  // net::connect_to() does; with deadline_exceeded when no hello comes; with invalid_argument or
  // unauthenticated when the peer is no server, unimplemented when it speaks another version, and
  // with what a server says that does not let us in, such as resource_exhausted.
  static Result<std::unique_ptr<Client>> connect(net::Network& network, const net::HostPort& peer,
                                                 Deadline deadline);
  static Result<std::unique_ptr<Client>> connect(net::Network& network, const net::HostPort& peer,
                                                 Deadline deadline, Options options);

  // No task may be inside a call, which is checked: close() and join the callers first.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // What the typed clients are made of. Suspends. `reply` is changed by success, and by
  // a reply that does not parse.
  //
  // Fails with the handler's own error, or with the runtime's: deadline_exceeded or cancelled;
  // the code of what ended the connection, mostly unavailable, for all pending calls at once and
  // for each later call; internal when the reply does not parse; resource_exhausted when too many
  // calls are pending or the request fits no frame. They carry maybe_executed when the request
  // may have been sent.
  Result<void> call(const Method& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, CallOptions options = {});

  bool is_connected() const;
  // Ends all pending calls with unavailable. Never suspends.
  void close();

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::rpc
