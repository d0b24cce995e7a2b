// The serving end: each request runs its handler as straight-line code in a task of its own.
//
//   rpc::Server server(network, {});
//   server.add(chess_service);
//   auto endpoint = server.listen({"127.0.0.1", 8460});
//   ...
//   server.stop(Deadline::after(5s));
//
// Frames are cut and messages parsed on the loop's stack, so an idle connection, half a frame or
// a refused request costs no coroutine. A refusal is a reply: unimplemented, invalid_argument,
// resource_exhausted with retry_after, or unavailable while stopping.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/histogram.h"
#include "coroutine/base/result.h"
#include "net/address_shares.h"
#include "net/connection_bound.h"
#include "net/network.h"
#include "rpc/admission_options.h"
#include "rpc/connection_view.h"
#include "rpc/context.h"
#include "rpc/filter.h"
#include "rpc/keepalive.h"
#include "rpc/observe/method_cost.h"
#include "rpc/security.h"
#include "rpc/service.h"

namespace corolane::rpc {

class Server {
 public:
  struct Options {
    // Through each door, so that clients keep no node out; the next one is told so and closed.
    std::size_t connection_count_max = 16'384;
    // One address may hold so much of the clients' connections, and of their calls, in hundredths:
    // see net::AddressShares.
    std::uint32_t address_share_percent = net::AddressShares::Limits{}.share_percent;
    std::size_t calls_per_connection_max = 1024;
    std::size_t calls_per_method_max = 100'000;  // Running and waiting: a bound on their memory.
    std::chrono::seconds hello_time_max{5};      // A peer that says no hello by then is closed.
    // While stopping: how long a client may take to send its last requests elsewhere.
    std::chrono::milliseconds leave_time_max{1'000};
    // What large requests may take, decoded, until they are served.
    std::size_t decoded_bytes_max = std::size_t{256} << 20;
    AdmissionOptions admission = {};
    Keepalive keepalive = {};
    std::uint64_t random_seed = 0;  // Of random delays; 0 takes one from the system.
  };

  // Nodes may call every method of a service. This says which of them clients may call.
  enum class Audience : std::uint8_t {
    as_marked,  // Those with the option `public`.
    everybody,  // All: for development.
    nodes,      // None, whatever the service says of its methods.
  };

  // Who may come by one endpoint, and for what.
  struct ListenOptions {
    std::size_t request_bytes_max = 64 * 1024;  // What a client may send in one message.
    Security security = {};
    // Of one client at the same time; 0: as Options has it.
    std::size_t calls_per_connection_max = 0;
    Door door = Door::nodes;
    // Bounds its connections in place of the server's own count, such as one that all servers of a
    // node have. Outlives the server.
    net::ConnectionBound* connections = nullptr;
    // By which network they come, when it is not that of the server, such as a net::TlsNetwork.
    // Outlives the server.
    net::Network* network = nullptr;
    // Servers on other threads have the same port: net::ListenOptions.
    bool shares_port = false;
  };

  struct MethodStatistics {
    const char* full_name;
    std::uint64_t call_count = 0;  // Ended; refused ones are not among them.
    std::uint64_t error_count = 0;
    std::array<std::uint64_t, code_count> error_counts{};  // The same, by the number of the code.
    std::uint64_t refused_count = 0;  // For load, for malformed requests or while stopping.
    std::uint64_t running_count = 0;
    Histogram latency_us;   // From when the request was read to its end.
    Duration queue_time{};  // Of all: from when it was read to when its handler began.
    MethodCost cost = {};   // Of the handler.
  };

  struct Statistics {
    std::uint64_t connection_count = 0;
    std::uint64_t accepted_count = 0;
    std::uint64_t refused_connection_count = 0;  // Without room for them, or for their address.
    std::uint64_t protocol_error_count = 0;      // Connections closed for what they sent.
    std::uint64_t running_count = 0;             // Those that wait for their turn included.
    std::uint64_t waiting_count = 0;
    std::uint64_t stray_exception_count = 0;
    std::uint64_t stream_count = 0;  // Streams that are open; they are running calls, too.
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;  // Appended to the output of a connection.
    // By priority: calls that admission refused, and how long those that began had waited.
    std::array<std::uint64_t, priority_count> shed_counts{};
    // Calls that were refused since their address holds its share already.
    std::uint64_t above_share_count = 0;
    std::vector<Histogram> queue_delay_us;
    std::vector<MethodStatistics> methods;  // By name.
  };

  explicit Server(net::Network& network) : Server(network, Options{}) {}
  // `network` outlives the server.
  Server(net::Network& network, Options options);
  // Stops at once: cancels all handlers and suspends until they have ended.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves `service`, which outlives the server. Before listen(). Two methods of the same id are
  // already_exists. A method that clients may not call does not exist for them: it is
  // unimplemented, and neither reflection nor an HttpFace lists it.
  Result<void> add(Service& service, Audience audience = Audience::as_marked);

  // Puts a filter around all calls, inside of those that were added before. Before listen().
  void add_filter(ServerFilter filter);
  // Tells it of all calls, after those that were added before. With a bar, which outlives the
  // server, only of failures and of those above it. Before listen().
  void add_observer(ServerObserver observer, const CallBar* bar = nullptr);

  // Starts to accept; returns the endpoint with the port that was chosen. May be called for
  // several endpoints.
  Result<net::Endpoint> listen(const net::Endpoint& endpoint);
  Result<net::Endpoint> listen(const net::Endpoint& endpoint, ListenOptions options);

  // Takes over connection_count_max, calls_per_connection_max and address_share_percent, for what
  // begins from now on.
  void set_limits(const Options& options);

  // Runs one call that came another way than by a frame, such as by HTTP, in a task of its own,
  // with the same admission, filters, deadline and statistics. Suspends until it has ended. Fails
  // as the call of a client does.
  Result<void> call(const Method& method, const google::protobuf::Message& request,
                    const Context::Facts& facts, ReplySink& sink);

  // Counts the calls of clients by address. A server that takes their connections in another way,
  // such as a net::HttpServer, counts in it as well. Lives as long as the server.
  net::AddressShares& call_shares();

  // Drains it, so that no call is lost: stops accepting, asks every client to go elsewhere, serves
  // what they had sent until they knew, and suspends until all handlers have ended. Streams, which
  // have no end of their own, are cancelled at once; other handlers at the deadline. Both are
  // unavailable for their callers. Then closes all connections after their output is sent. Fails
  // with deadline_exceeded when handlers had to be cancelled at the deadline.
  Result<void> stop(Deadline deadline);

  // The method of that name, "package.Service/Method"; null when peers behind `door` have none.
  const Method* find(std::string_view full_name, Door door) const;
  // The methods of a service that peers behind `door` may call, in the order of its .proto.
  std::vector<const Method*> methods(const Service& service, Door door) const;

  std::vector<const Service*> services() const;
  // Shows all connections, in any order; `see` must not suspend.
  void for_each_connection(const std::function<void(const ConnectionView&)>& see) const;
  Statistics statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::rpc
