#include "net/network.h"

#include <cstdint>
#include <utility>

namespace corolane::net {

Result<std::unique_ptr<Stream>> connect_to(Network& network, const HostPort& host,
                                           Deadline deadline, StreamOptions options) {
  auto addresses = network.resolve(host, deadline);
  if (!addresses) return addresses.error();

  Error last_error(Code::not_found, "resolve " + host.host + ": no address");
  auto left_count = static_cast<std::int64_t>(addresses->size());
  for (const Endpoint& address : *addresses) {
    // An address that does not answer costs its share of the time, not all of it.
    const Deadline share = Deadline::after(deadline.remaining() / left_count--);
    auto stream = network.connect(address, earlier(share, deadline), options);
    if (stream || stream.error().code() == Code::cancelled) return stream;
    last_error = std::move(stream.error());
  }
  return last_error;
}

}  // namespace corolane::net
