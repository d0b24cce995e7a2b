// The way to other processes, and the seam at which simulation takes its place.
//
// The real one is libuv (UvNetwork in uv_network.h); tests have one in memory and virtual time.
// Code above this line knows only Network, Listener and Stream. All of it belongs to one
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
  StreamOptions stream = {};  // Of every accepted stream.
  // Other listeners that say the same may have the TCP port, too: the kernel spreads connections
  // over them (SO_REUSEPORT). Also those of another process, unnoticed.
  bool shares_port = false;
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
  // of this machine's, and with permission_denied when the system keeps the port to itself. The
  // file of a Unix socket is replaced when its server is dead, and removed by close(); not_found
  // is its folder.
  virtual Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint,
                                                   ListenOptions options = {}) = 0;

  // Suspends until connected. Fails with unavailable when the peer refuses or cannot be reached,
  // with deadline_exceeded or cancelled.
  virtual Result<std::unique_ptr<Stream>> connect(const Endpoint& endpoint, Deadline deadline,
                                                  StreamOptions options = {}) = 0;

  // The same, to a host that the caller knows by `name` and whose address `endpoint` is: what TLS
  // has the peer prove. Other networks have no use for the name.
  virtual Result<std::unique_ptr<Stream>> connect_by_name(const std::string& name,
                                                          const Endpoint& endpoint,
                                                          Deadline deadline, StreamOptions options);

  // A socket for datagrams, as listen() for connections. Fails as that does; with unimplemented on
  // a network without them.
  virtual Result<std::unique_ptr<UdpSocket>> bind_udp(const Endpoint& endpoint,
                                                      UdpOptions options = {});

  // The addresses of a host name, in the order to try them; a numeric address or a Unix socket is
  // returned as it is. Suspends. Fails with not_found for an unknown name.
  virtual Result<std::vector<Endpoint>> resolve(const HostPort& host, Deadline deadline) = 0;
};

// Resolves, and connects to whichever of the addresses answers first (RFC 8305, "Happy Eyeballs"):
// tried in turn by family, the next one as soon as an attempt fails or after connect_attempt_delay,
// while the earlier ones go on. The others are cancelled when one has succeeded. Suspends.
//
// Fails as resolve() does; as the attempt did, if there was one; otherwise with an error that tells
// of each. Its code is the one that they agree on, or unavailable; deadline_exceeded when time ran
// out first.
Result<std::unique_ptr<Stream>> connect_to(Network& network, const HostPort& host,
                                           Deadline deadline, StreamOptions options = {});

// RFC 8305, section 5: "Connection Attempt Delay", the recommended value. Long enough that a host
// that answers is not asked twice, short enough that nobody notices a family that is broken.
constexpr std::chrono::milliseconds connect_attempt_delay(250);

// Addresses that connect_to() tries at the most. Each holds a socket and a stack until the race is
// over; a name with more addresses than that does not get better by the next one.
constexpr std::size_t connect_attempt_count_max = 16;

}  // namespace corolane::net
