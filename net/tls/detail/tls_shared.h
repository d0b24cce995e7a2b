// SPDX-License-Identifier: MIT
// The state that the connections of a TlsNetwork share: buffers, and the counts of handshakes.
#pragma once

#include <array>
#include <cstddef>

#include "net/detail/buffer_pool.h"
#include "net/tls/tls.h"

namespace corolane::net::detail {

struct TlsShared {
  BufferPool buffers;
  // Plain text for sinks: its contents are valid during one call of a sink.
  std::array<std::byte, 32 * 1024> read_buffer;
  TlsNetwork::Statistics statistics;
};

}  // namespace corolane::net::detail
