// SPDX-License-Identifier: MIT
// The interface to other processes, and the seam at which a simulation replaces it.
//
//   auto listener = network.listen({"127.0.0.1", 8460});  // A server.
//   if (!listener) return listener.error();
//   auto accepted = (*listener)->accept(Deadline::never());
//
//   auto stream = connect_to(network, {"game.example", 8460}, deadline);  // A client.
//   if (!stream) return stream.error();
//
// The real implementation uses libuv (UvNetwork in uv_network.h); tests have one in memory and
// virtual time. Other code knows only Network, Listener and Stream. All of it belongs to one
// scheduler's thread; calls that suspend must come from a task.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/endpoint.h"
#include "net/stream.h"
#include "net/udp.h"

namespace corolane::net {

struct ListenOptions {
  int backlog = 1024;         // Connections that the kernel holds until accept() takes them.
  StreamOptions stream = {};  // For every accepted stream.
  // Other listeners with the same option may share the TCP port: the kernel spreads connections
  // over them (SO_REUSEPORT). Another process may join unnoticed, too.
  bool shares_port = false;
};

// Accepts connections. Destroying it closes the socket; no task may be inside its calls. Accepted
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

  // Its port is the actual one when 0 was requested.
  virtual Endpoint local_endpoint() const = 0;
};

class Network {
 public:
  virtual ~Network() = default;

  // Fails with already_exists when the address is in use, with invalid_argument when it is not an
  // address of this machine, and with permission_denied when the system reserves the port. The file
  // of a Unix socket is replaced when its server is dead, and removed by close(); not_found means
  // that its folder does not exist.
  virtual Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint,
                                                   ListenOptions options = {}) = 0;

  // Suspends until connected. Fails with unavailable when the peer refuses or cannot be reached,
  // with deadline_exceeded or cancelled.
  virtual Result<std::unique_ptr<Stream>> connect(const Endpoint& endpoint, Deadline deadline,
                                                  StreamOptions options = {}) = 0;

  // The same, to a host that the caller knows by `name` and whose address is `endpoint`: TLS makes
  // the peer prove the name. Other networks ignore it.
  virtual Result<std::unique_ptr<Stream>> connect_by_name(const std::string& name,
                                                          const Endpoint& endpoint,
                                                          Deadline deadline, StreamOptions options);

  // Binds a socket for datagrams, as listen() does for connections. Fails as listen() does; with
  // unimplemented on a network without datagrams.
  virtual Result<std::unique_ptr<UdpSocket>> bind_udp(const Endpoint& endpoint,
                                                      UdpOptions options = {});

  // Returns the addresses of a host name, in the order to try them; a numeric address or a Unix
  // socket is returned unchanged. Suspends. Fails with not_found for an unknown name.
  virtual Result<std::vector<Endpoint>> resolve(const HostPort& host, Deadline deadline) = 0;
};

// Suspends until a peer connects, whatever fails meanwhile: a process that is out of descriptors
// will close others. Returns null once `stopping` is true, or when the calling task is cancelled.
std::unique_ptr<Stream> accept_next(Listener& listener, const bool& stopping);

// Resolves, and connects to the address that answers first (RFC 8305, "Happy Eyeballs"): families
// take turns, and the next attempt starts when one fails or after connect_attempt_delay, while the
// earlier ones continue. The first success cancels the others. Suspends.
//
// Fails as resolve() does; as the attempt did, if there was only one; otherwise with an error that
// lists all attempts. Its code is the one that they agree on, or unavailable; deadline_exceeded
// when time ran out first.
Result<std::unique_ptr<Stream>> connect_to(Network& network, const HostPort& host,
                                           Deadline deadline, StreamOptions options = {});

// RFC 8305, section 5: "Connection Attempt Delay", the recommended value. Long enough that a host
// that answers is not asked twice, short enough that users do not notice a broken family.
constexpr std::chrono::milliseconds connect_attempt_delay(250);

// The most addresses that connect_to() tries. Each holds a socket and a stack until the race is
// over; if the first 16 addresses of a name fail, the next one will not help either.
constexpr std::size_t connect_attempt_count_max = 16;

}  // namespace corolane::net
