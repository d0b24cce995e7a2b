// SPDX-License-Identifier: MIT
// The client side: any number of tasks call at the same time, each as a function that returns the
// reply.
//
//   auto client = rpc::Client::connect(network, {"127.0.0.1", 8460}, Deadline::after(5s));
//   if (!client) return client.error();
//   ChessClient chess(**client);
//   auto reply = chess.move(request, {.deadline = deadline});
//
// A call suspends its task until the reply arrives, the deadline passes, the task is cancelled or
// the connection breaks; in all but the first case the server is told to cancel the handler. When
// the connection breaks, all pending calls end at once and the client reconnects. New calls wait
// for the connection until their deadline, and fail at once when the server has been unreachable
// for too long.
//
// A failed call is retried within its deadline and the retry budget, if it was certainly not
// executed or its method is idempotent. A client belongs to one scheduler's thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/network.h"
#include "rpc/call_options.h"
#include "rpc/client/push_sink.h"
#include "rpc/filter.h"
#include "rpc/options.h"
#include "rpc/service.h"

namespace corolane::rpc {

namespace detail {
class ClientStream;
}

class Client {
 public:
  struct Options {
    std::size_t reply_bytes_max = 4 * 1024 * 1024;
    std::size_t pending_count_max = 4096;  // Calls in flight; more fail with resource_exhausted.
    // Bounds one attempt, handshake included.
    std::chrono::milliseconds connect_time_max{5'000};
    // The delay between attempts: doubles from the minimum to the maximum; the actual delay is
    // drawn from the upper half.
    std::chrono::milliseconds reconnect_delay_min{20};
    std::chrono::milliseconds reconnect_delay_max{2'000};
    // Calls wait this long for a lost connection; after that they fail at once until it is back. A
    // restarting server takes less.
    std::chrono::milliseconds unreachable_after{3'000};
    // The delay before the first retry of a call; doubles with each retry; the actual delay is
    // drawn from the upper half.
    std::chrono::milliseconds retry_delay_min{10};
    Keepalive keepalive = {};
    Security security = {};
    // The namespace of the request ids of its calls (call_options.h), shared by all its connections
    // and by other clients with the same value: 16 to 32 random bytes, a secret known only to
    // servers. Empty: a random one of its own.
    std::string requester = {};
    // Returns the token with which the client logs in. Called for each connection, in a task; may
    // suspend, for example to ask a login service for a fresh one. Empty: it does not log in. See
    // principal.h for the server's side.
    std::function<Result<std::string>()> token = {};
    // When it is set the client keeps a session, over which it is pushed to: it connects at once
    // when it has lost its connection, for as long as it takes, and resumes. Outlives the client.
    PushSink* pushes = nullptr;
    // Outermost first.
    std::vector<ClientFilter> filters = {};
    // Seeds the random delays; 0 takes a seed from the system.
    std::uint64_t random_seed = 0;
  };

  struct Statistics {
    std::uint64_t call_count = 0;                          // Unary calls, not counting retries.
    std::uint64_t error_count = 0;                         // Calls whose last attempt failed.
    std::array<std::uint64_t, code_count> error_counts{};  // By the number of the code.
    std::uint64_t retry_count = 0;                         // Attempts after the first one.
    std::uint64_t connect_count = 0;                       // Connections made.
    std::size_t pending_count = 0;
  };

  // Suspends until the connection is made and the handshake is done. Fails as net::connect_to()
  // does; with deadline_exceeded when no hello arrives; with invalid_argument or unauthenticated
  // when the peer is not a server or not of our cluster; with unimplemented when it speaks another
  // version; with the error of Options::token; and with the server's own error when it refuses us,
  // such as unauthenticated for a token that has expired.
  static Result<std::unique_ptr<Client>> connect(net::Network& network, const net::HostPort& peer,
                                                 Deadline deadline);
  static Result<std::unique_ptr<Client>> connect(net::Network& network, const net::HostPort& peer,
                                                 Deadline deadline, Options options);

  // Connects on the first call. `network` outlives the client.
  Client(net::Network& network, net::HostPort peer, Options options);
  // The same with several servers, of which there is at least one: any of them will do. The first
  // is drawn at random. It takes the next one when one does not answer, refuses it or drains, and
  // waits once it has tried them all; a session is resumed wherever it arrives.
  Client(net::Network& network, std::vector<net::HostPort> servers, Options options);
  // Suspends until the client's own task has ended. No task may be inside a call, which is checked:
  // close() and join the callers first.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The call that typed clients are built on. Suspends. `reply` changes on success, and when the
  // reply does not parse.
  //
  // Fails with the handler's own error, or with the runtime's: deadline_exceeded or cancelled; the
  // code that ended the connection, usually unavailable, for all pending calls at once; internal
  // when the reply does not parse; resource_exhausted when too many calls are pending, when the
  // server does not take a request of this size, or the reply is above reply_bytes_max. The error
  // carries maybe_executed when the handler may have run.
  Result<void> call(const Method& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, const CallOptions& options = {});

  // The same for one-way methods. Suspends while there is no connection or no room on it. Success
  // means only that the request is on its way.
  Result<void> notify(const Method& method, const google::protobuf::Message& request,
                      const CallOptions& options = {});

  // The session wants no more news of that group (PushSink): none comes after this. The number is
  // one of the present session: another one begins anew (PushSink::on_session()). The server is
  // told now, and again when the connection is lost before it has ended the group. Never suspends.
  void unfollow(std::uint32_t group);

  // Connects to the next server, as if the present one drained: calls that are under way end there,
  // and a session comes along. For a caller that knows that the server is of no use, since it does
  // not reach others. Never suspends.
  void leave_server();

  // Suspends until there is a connection. Fails as connect() does.
  Result<void> wait_until_connected(Deadline deadline);
  bool is_connected() const;
  Statistics statistics() const;
  // Passes the current connection, if there is one, to `see`, which must not suspend.
  void see_connection(const std::function<void(const ConnectionView&)>& see) const;

  // Ends all pending and all later calls with unavailable. Never suspends.
  void close();

 private:
  friend class detail::ClientStream;
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::rpc
