// SPDX-License-Identifier: MIT
// Ready-made frames of a client.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "tools/benchmarks/network/protocol.h"

namespace corolane::bench {

inline constexpr std::size_t rpc_payload_bytes = 100;

// A request of a method of echo.proto, with call id 0.
Bytes rpc_request(std::string_view method, std::chrono::microseconds time_left);

void append_rpc_hello(Bytes& out);

}  // namespace corolane::bench
