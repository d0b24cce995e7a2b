// SPDX-License-Identifier: MIT
// Applies StreamOptions to a TCP socket.
#pragma once

#include <string_view>

#include "coroutine/base/result.h"
#include "net/stream.h"

namespace corolane::net::detail {

// Also for a listening socket: accepted sockets inherit the options, at no cost per connection.
// `action` is the context of a failure; invalid_argument is a value that the kernel does not
// accept.
Result<void> set_tcp_options(int descriptor, const StreamOptions& options, std::string_view action);

}  // namespace corolane::net::detail
