// SPDX-License-Identifier: MIT
// The server side: each request runs its handler as straight-line code in a task of its own.
//
//   rpc::Server server(network, {});
//   server.add(chess_service);
//   auto endpoint = server.listen({"127.0.0.1", 8460}, {.door = rpc::Door::clients});
//   ...
//   server.stop(Deadline::after(5s));
//
// Frames are cut and messages parsed on the loop's stack, so an idle connection, a partial frame or
// a refused request costs no coroutine. A refusal is a reply: unimplemented, invalid_argument,
// resource_exhausted with retry_after, or unavailable while stopping.
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
#include "coroutine/base/histogram.h"
#include "coroutine/base/result.h"
#include "net/address_shares.h"
#include "net/byte_budget.h"
#include "net/connection_bound.h"
#include "net/network.h"
#include "rpc/context.h"
#include "rpc/filter.h"
#include "rpc/observe/method_cost.h"
#include "rpc/options.h"
#include "rpc/principal.h"
#include "rpc/service.h"
#include "rpc/session.h"
#include "rpc/session_registry.h"
#include "rpc/stack_sizes.h"

namespace corolane::rpc {

namespace detail {
class Dispatcher;
class PrincipalCounts;
}  // namespace detail

class Server {
 public:
  struct Options {
    // Per door, so that clients cannot keep a node out; further connections get an error and are
    // closed.
    std::size_t connection_count_max = 16'384;
    // The share of the clients' connections, and of their calls, that one address may hold, in
    // percent: see net::AddressShares.
    std::uint32_t address_share_percent = net::AddressShares::Limits{}.share_percent;
    std::size_t calls_per_connection_max = 1024;
    // The limits of one principal over all its connections and requests. The limits of its address
    // bound an anonymous client.
    std::size_t connections_per_principal_max = 256;
    std::size_t calls_per_principal_max = 4'096;
    std::size_t calls_per_method_max = 100'000;  // Running and waiting: bounds their memory.
    std::chrono::seconds hello_time_max{5};      // A peer without a hello by then is closed.
    // While stopping: how long a client may take to answer go_away.
    std::chrono::milliseconds leave_time_max{1'000};
    // The memory that all clients together may hold: half a request, large decoded requests until
    // they are served, replies that are not sent. See net::ByteBudget. Their connections take as
    // much again at most.
    std::size_t client_bytes_max = std::size_t{128} << 20;
    // The same for nodes, of which only large decoded requests are counted, which take at most
    // half.
    std::size_t node_bytes_max = std::size_t{512} << 20;
    AdmissionOptions admission = {};
    Keepalive keepalive = {};
    SessionOptions sessions = {};
    // Where clients may resume the sessions of this server, and by which it finds those of others.
    // Outlives the server. Null: sessions stay here.
    SessionRegistry* session_registry = nullptr;
    std::uint64_t random_seed = 0;  // Seeds random delays; 0 takes a seed from the system.
    StackSizes stack_sizes = {};    // Of the handlers' tasks.
  };

  // Nodes may call every method of a service. This says which of them clients may call.
  enum class Audience : std::uint8_t {
    as_marked,  // Methods with the option `public`.
    everybody,  // All methods: for development.
    nodes,      // No method, even with the option `public`.
  };

  // Which peers one endpoint serves, and their limits.
  struct ListenOptions {
    std::size_t request_bytes_max = 64 * 1024;  // For one message from a client.
    Security security = {};
    // Calls of one client at the same time; 0: the value of Options.
    std::size_t calls_per_connection_max = 0;
    DoorChoice door;
    // Finds the principal of a client by the token in its hello, once for each connection, within
    // hello_time_max. Empty: every client is anonymous. Not for a listener with a shared key.
    Login login = {};
    // Bounds the connections in place of the server's own count, for example one bound shared by
    // all servers of a node. Outlives the server.
    net::ConnectionBound* connections = nullptr;
    // The network to listen on when it is not the server's, such as a net::TlsNetwork. Outlives the
    // server.
    net::Network* network = nullptr;
    // Servers on other threads share the port: net::ListenOptions.
    bool shares_port = false;
  };

  struct MethodStatistics {
    const char* full_name;
    std::uint64_t call_count = 0;  // Ended calls, without refused ones.
    std::uint64_t error_count = 0;
    std::array<std::uint64_t, code_count> error_counts{};  // By the number of the code.
    // Those of them that are the server's fault (rpc/observe/call_outcome.h); the others are
    // refusals.
    std::array<std::uint64_t, code_count> fault_counts{};
    std::uint64_t refused_count = 0;        // For load, for malformed requests or while stopping.
    std::uint64_t refused_fault_count = 0;  // Those of them that are the server's fault.
    std::uint64_t running_count = 0;
    Histogram latency_us;   // From reading the request to the end of the call.
    Duration queue_time{};  // Sum: from reading to the start of the handler.
    MethodCost cost = {};   // The cost of the handler.

    // Calls that failed by the server's fault, and all others that failed, whether their handlers
    // have begun or not.
    std::uint64_t fault_count() const;
    std::uint64_t refusal_count() const { return error_count + refused_count - fault_count(); }
  };

  struct Statistics {
    std::uint64_t connection_count = 0;
    std::uint64_t accepted_count = 0;
    std::uint64_t refused_connection_count = 0;  // No room for them, or for their address.
    std::uint64_t protocol_error_count = 0;      // Connections closed for invalid input.
    std::uint64_t login_count = 0;               // Clients whose token was verified,
    std::uint64_t refused_login_count = 0;       // and those that were refused.
    std::uint64_t running_count = 0;             // Including calls that wait.
    std::uint64_t waiting_count = 0;
    std::uint64_t stray_exception_count = 0;
    std::uint64_t stream_count = 0;  // Open streams; they count as running calls too.
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;  // Appended to the output of a connection.
    // By priority: calls that admission refused, and the queue delay of calls that began.
    std::array<std::uint64_t, priority_count> shed_counts{};
    // Calls refused because their address already holds its share.
    std::uint64_t above_share_count = 0;
    net::ByteBudget::Statistics client_bytes = {};
    SessionCounts sessions = {};
    std::vector<Histogram> queue_delay_us;
    std::vector<MethodStatistics> methods;  // By name.
  };

  // Sums over all methods since the start, for a reader that comes each second: reading them
  // visits no connection and allocates nothing.
  struct Totals {
    std::uint64_t connection_count = 0;
    std::uint64_t running_count = 0;
    std::uint64_t call_count = 0;         // Ended calls, without those that were turned away.
    std::uint64_t fault_count = 0;        // Of these, those that failed by the server's fault,
    std::uint64_t refusal_count = 0;      // and those whose error answers the request.
    std::uint64_t turned_away_count = 0;  // MethodStatistics::refused_count.
    Histogram latency_us;                 // Without streams, which have no natural end.
    Histogram queue_delay_us;
  };

  explicit Server(net::Network& network) : Server(network, Options{}) {}
  // `network` outlives the server.
  Server(net::Network& network, Options options);
  // Stops at once: cancels all handlers and suspends until they have ended.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves `service`, which outlives the server. Call it before listen(). Fails with already_exists
  // when two methods have the same id. A method that clients may not call does not exist for them:
  // it fails with unimplemented, and neither reflection nor an HttpFace lists it.
  Result<void> add(Service& service, Audience audience = Audience::as_marked);

  // Puts a filter around all calls, inside the filters added before. Call it before listen().
  void add_filter(ServerFilter filter, FilterSees sees = FilterSees::replies);
  // Adds an observer of all calls, which runs after those added before. With a bar, which outlives
  // the server, it sees only failures and calls above the bar. Call it before listen().
  void add_observer(ServerObserver observer, const CallBar* bar = nullptr);

  // Starts to accept connections; returns the endpoint with the actual port. May be called for
  // several endpoints.
  Result<net::Endpoint> listen(const net::Endpoint& endpoint, ListenOptions options);

  // Updates connection_count_max, address_share_percent, client_bytes_max and the limits of a
  // connection and of a principal, from now on.
  void set_limits(const Options& options);

  // Gives the session that a client claims at another server to that server, or says where it has
  // moved. Suspends while it is on its way here.
  SessionAnswer give_session(const SessionClaim& claim, Deadline deadline);

  // The session of that number. Null when it is not here; it may have moved to the home that the
  // second one returns, which is empty when that is not known.
  std::shared_ptr<Session> find_session(std::uint64_t number) const;
  std::string next_home_of_session(std::uint64_t number) const;

  // Counts the calls of clients by address, over HTTP too. Lives as long as the server.
  net::AddressShares& call_shares();
  // Counts the memory that clients hold. Other servers by which clients call this one share it.
  net::ByteBudget& client_bytes();

  // The first step of a drain, when clients can go elsewhere: stops accepting them and asks all to
  // leave, so many a second, so that they do not arrive together at the others. Meanwhile their
  // calls are served, and give_session() gives away what they resume there. Suspends until they
  // have left with their sessions, or until the deadline. stop() comes next.
  void dismiss_clients(std::size_t per_second, Deadline deadline);

  // Drains the server so that no call is lost: stops accepting, asks every client to leave, serves
  // the requests that they sent before they left, and suspends until all handlers have ended.
  // Streams, which have no natural end, are cancelled at once; other handlers at the deadline.
  // Callers of both get unavailable. Then closes all connections after their output is sent. Fails
  // with deadline_exceeded when handlers had to be cancelled at the deadline, and with
  // failed_precondition, doing nothing, in a handler, for which it would wait.
  Result<void> stop(Deadline deadline);

  // The method of that name, "package.Service/Method"; null when peers behind `door` have no such
  // method.
  const Method* find(std::string_view full_name, Door door) const;
  // The methods of a service that peers behind `door` may call, in the order of its .proto.
  std::vector<const Method*> methods(const Service& service, Door door) const;

  std::vector<const Service*> services() const;
  // Passes each connection, in any order, to `see`, which must not suspend.
  void for_each_connection(const std::function<void(const ConnectionView&)>& see) const;
  // The same for each session.
  void for_each_session(const std::function<void(const Session&)>& see) const;
  Statistics statistics() const;
  void read_totals(Totals& totals) const;

 private:
  friend class HttpFace;  // Passes requests to the dispatcher, and counts their principals.
  detail::Dispatcher& dispatcher();
  detail::PrincipalCounts& principals();

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::rpc
