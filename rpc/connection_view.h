// A connection as its owner shows it to code that lists all connections.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/stream.h"

namespace corolane::rpc {

// Valid only during the call that it is passed to.
struct ConnectionView {
  const net::Stream& stream;
  bool is_open = false;  // The handshake is done, and neither end has said bye.
  std::size_t running_count = 0;
  std::uint64_t answered_count = 0;  // Calls that have ended, successful or not.
};

}  // namespace corolane::rpc
