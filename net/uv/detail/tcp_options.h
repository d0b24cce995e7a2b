// How a TCP socket treats its peer, as StreamOptions say it.
#pragma once

#include <string_view>

#include "coroutine/base/result.h"
#include "net/stream.h"

namespace corolane::net::detail {

// On a listening socket too: what it accepts inherits them, at no cost per connection. `action` is
// what a failure says was being done; invalid_argument is a figure that the kernel does not take.
Result<void> set_tcp_options(int descriptor, const StreamOptions& options, std::string_view action);

}  // namespace corolane::net::detail
