// What the connections of a TlsNetwork have in common: buffers, and the counts of handshakes.
#pragma once

#include <array>
#include <cstddef>

#include "net/tls/tls.h"
#include "net/uv/detail/buffer_pool.h"

namespace corolane::net::detail {

struct TlsShared {
  BufferPool buffers;
  // What is read for sinks: its contents live during one call of a sink.
  std::array<std::byte, 32 * 1024> read_buffer;
  TlsNetwork::Statistics statistics;
};

}  // namespace corolane::net::detail
