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

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/histogram.h"
#include "coroutine/base/result.h"
#include "net/network.h"
#include "rpc/service.h"

namespace corolane::rpc {

class Server {
 public:
  struct Options {
    std::size_t connection_count_max = 16'384;  // The next one is told so and closed.
    std::size_t request_bytes_max = 64 * 1024;  // What a client may send in one message.
    std::size_t calls_per_connection_max = 1024;
    std::chrono::seconds hello_time_max{5};      // A peer that says no hello by then is closed.
    std::chrono::milliseconds retry_after{100};  // Told to callers that are refused for load.
  };

  struct MethodStatistics {
    const char* full_name;
    std::uint64_t call_count = 0;  // Ended; refused ones are not among them.
    std::uint64_t error_count = 0;
    std::uint64_t refused_count = 0;  // For load, for malformed requests or while stopping.
    std::uint64_t running_count = 0;
    Histogram latency_us;  // From the parsed request to the reply.
  };

  struct Statistics {
    std::uint64_t connection_count = 0;
    std::uint64_t accepted_count = 0;
    std::uint64_t protocol_error_count = 0;  // Connections closed for what they sent.
    std::uint64_t running_count = 0;
    std::uint64_t stray_exception_count = 0;
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
  // already_exists.
  Result<void> add(Service& service);

  // Starts to accept; returns the endpoint with the port that was chosen. May be called for
  // several endpoints.
  Result<net::Endpoint> listen(const net::Endpoint& endpoint);

  // Stops accepting and refuses new calls, suspends until all handlers have ended, cancels them at
  // the deadline, which is unavailable for their callers, then closes all connections after their
  // output is sent. Fails with deadline_exceeded when handlers had to be cancelled.
  Result<void> stop(Deadline deadline);

  std::vector<const Service*> services() const;
  Statistics statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::rpc
