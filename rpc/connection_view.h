// A connection as its owner shows it to those who list them all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/stream.h"

namespace corolane::rpc {

// Refers to what may be gone after the call that it is handed to.
struct ConnectionView {
  const net::Stream& stream;
  bool is_open = false;  // The handshake is done, and nobody has said bye.
  std::size_t running_count = 0;
  std::uint64_t answered_count = 0;  // Calls that have ended, well or not.
};

}  // namespace corolane::rpc
