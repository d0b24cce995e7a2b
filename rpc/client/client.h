// The calling end: any number of tasks call at the same time, each as a function that returns the
// reply.
//
//   auto client = rpc::Client::connect(network, {"127.0.0.1", 8460}, Deadline::after(5s));
//   if (!client) return client.error();
//   ChessClient chess(**client);
//   auto reply = chess.move(request, {.deadline = deadline});
//
// A call suspends its task until the reply is there, the deadline passes, the task is cancelled
// or the connection breaks; in all but the first case the server is told to cancel the handler.
// When the connection breaks all pending calls end at once, and the client makes a new one;
// calls wait for it until their deadline, and fail at once when the server is gone for longer.
//
// A call that fails is tried again, within its deadline, as long as few do, if it was surely not
// executed, or if its method is idempotent. All of it belongs to one scheduler's thread.
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
#include "rpc/connection_view.h"
#include "rpc/filter.h"
#include "rpc/keepalive.h"
#include "rpc/security.h"
#include "rpc/service.h"

namespace corolane::rpc {

namespace detail {
class ClientStream;
}

class Client {
 public:
  struct Options {
    std::size_t reply_bytes_max = 4 * 1024 * 1024;
    std::size_t pending_count_max = 4096;  // Calls in flight; one more is resource_exhausted.
    // For one attempt, handshake included.
    std::chrono::milliseconds connect_time_max{5'000};
    // Between attempts: doubled from the one to the other, and drawn from the upper half.
    std::chrono::milliseconds reconnect_delay_min{20};
    std::chrono::milliseconds reconnect_delay_max{2'000};
    // Calls wait so long for a connection that is gone; then they fail at once until it is back. A
    // server that restarts takes less.
    std::chrono::milliseconds unreachable_after{3'000};
    // Before a call is tried again for the first time; doubled, and drawn from the upper half.
    std::chrono::milliseconds retry_delay_min{10};
    Keepalive keepalive = {};
    Security security = {};
    // Whose request ids are those of its calls (call_options.h), over all its connections and those
    // of other clients that say the same: 16 to 32 random bytes, told to nobody but servers. Empty:
    // its own.
    std::string requester = {};
    // Outermost first.
    std::vector<ClientFilter> filters = {};
    // Of the random delays; 0 takes one from the system.
    std::uint64_t random_seed = 0;
  };

  struct Statistics {
    std::uint64_t call_count = 0;   // Of unary methods; each once, however often it was tried.
    std::uint64_t error_count = 0;  // Those that failed in the end.
    std::array<std::uint64_t, code_count> error_counts{};  // The same, by the number of the code.
    std::uint64_t retry_count = 0;                         // Attempts after the first one.
    std::uint64_t connect_count = 0;                       // Connections that were made.
    std::size_t pending_count = 0;
  };

  // Suspends until the connection is made and the handshake is done. Fails as net::connect_to()
  // does; with deadline_exceeded when no hello comes; with invalid_argument or unauthenticated when
  // the peer is no server or not of our cluster, unimplemented when it speaks another version, and
  // with what a server says that does not let us in, such as resource_exhausted.
  static Result<std::unique_ptr<Client>> connect(net::Network& network, const net::HostPort& peer,
                                                 Deadline deadline);
  static Result<std::unique_ptr<Client>> connect(net::Network& network, const net::HostPort& peer,
                                                 Deadline deadline, Options options);

  // Connects when the first call is made. `network` outlives it.
  Client(net::Network& network, net::HostPort peer, Options options);
  // Suspends until its own task has ended. No task may be inside a call, which is checked: close()
  // and join the callers first.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // What the typed clients are made of. Suspends. `reply` is changed by success, and by
  // a reply that does not parse.
  //
  // Fails with the handler's own error, or with the runtime's: deadline_exceeded or cancelled;
  // the code of what ended the connection, mostly unavailable, for all pending calls at once;
  // internal when the reply does not parse; resource_exhausted when too many calls are pending or
  // the request fits no frame. They carry maybe_executed when the handler may have run.
  Result<void> call(const Method& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, const CallOptions& options = {});

  // The same for one-way methods. Suspends while there is no connection, or no room on it. Success
  // means that the request is on its way, and no more.
  Result<void> notify(const Method& method, const google::protobuf::Message& request,
                      const CallOptions& options = {});

  // Suspends until there is a connection. Fails as connect() does.
  Result<void> wait_until_connected(Deadline deadline);
  bool is_connected() const;
  Statistics statistics() const;
  // Shows the connection that it has, if there is one; `see` must not suspend.
  void see_connection(const std::function<void(const ConnectionView&)>& see) const;

  // Ends all pending calls, and all later ones, with unavailable. Never suspends.
  void close();

 private:
  friend class detail::ClientStream;
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::rpc
