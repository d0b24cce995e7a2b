// The way to other processes, and the seam at which simulation takes its place.
//
// The real one is libuv (UvNetwork in uv_network.h); tests have one in memory and virtual time.
// Code above this line knows only Network, Listener and Stream. All of it belongs to one
// scheduler's thread; calls that suspend must come from a task.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/endpoint.h"
#include "net/stream.h"

namespace corolane::net {

struct ListenOptions {
  int backlog = 1024;         // Connections that the kernel holds until accept() takes them.
  StreamOptions stream = {};  // Of every accepted stream.
};

// Accepts connections. Destroying it closes the socket, with no task inside its calls; accepted
// streams live on.
class Listener {
 public:
  virtual ~Listener() = default;

  // Suspends until a peer connects. Fails with deadline_exceeded or cancelled, with unavailable
  // after close(), and with resource_exhausted when the process is out of descriptors: the
  // listener stays usable then, and the connection waits in the backlog.
  virtual Result<std::unique_ptr<Stream>> accept(Deadline deadline) = 0;

  // Stops listening and ends waiting accepts with unavailable. Never suspends.
  virtual void close() = 0;

  // With the port that was chosen when 0 was asked for.
  virtual Endpoint local_endpoint() const = 0;
};

class Network {
 public:
  virtual ~Network() = default;

  // Fails with already_exists when the address is in use, with invalid_argument when it is none
  // of this machine's, and with permission_denied when the system keeps the port to itself.
  virtual Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint,
                                                   ListenOptions options = {}) = 0;

  // Suspends until connected. Fails with unavailable when the peer refuses or cannot be reached,
  // with deadline_exceeded or cancelled.
  virtual Result<std::unique_ptr<Stream>> connect(const Endpoint& endpoint, Deadline deadline,
                                                  StreamOptions options = {}) = 0;

  // The addresses of a host name, in the order to try them; a numeric address is returned as it
  // is. Suspends. Fails with not_found for an unknown name.
  virtual Result<std::vector<Endpoint>> resolve(const HostPort& host, Deadline deadline) = 0;
};

// Resolves and connects to the first address that answers; each gets an equal share of the time
// that is left. Suspends. Fails as resolve() does, or as the last attempt to connect.
Result<std::unique_ptr<Stream>> connect_to(Network& network, const HostPort& host,
                                           Deadline deadline, StreamOptions options = {});

}  // namespace corolane::net
