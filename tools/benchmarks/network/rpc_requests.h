// SPDX-License-Identifier: MIT
// Ready-made frames of a client.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "tools/benchmarks/network/protocol.h"

namespace corolane::bench {

inline constexpr std::size_t rpc_payload_bytes = 100;

// A request with call id 0.
Bytes rpc_frame(std::string_view method, std::chrono::microseconds time_left,
                std::string_view message);
// A request of a method of echo.proto, with call id 0.
Bytes rpc_request(std::string_view method, std::chrono::microseconds time_left,
                  std::size_t payload_bytes = rpc_payload_bytes);

// The token of well-behaved clients. Our servers take any token but the empty one, and its text is
// the principal.
inline constexpr std::string_view client_token = "client";

void append_rpc_hello(Bytes& out, std::string_view token = client_token,
                      bool keeps_session = false);

}  // namespace corolane::bench
