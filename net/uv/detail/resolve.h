// SPDX-License-Identifier: MIT
// Resolves host names with the system's resolver, on a thread of libuv's pool.
#pragma once

#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/endpoint.h"
#include "net/uv/event_loop.h"

namespace corolane::net::detail {

// Implements Network::resolve(). A look-up cannot be stopped: when the wait ends first, it runs to
// its end alone, and the loop cleans up after it.
Result<std::vector<Endpoint>> resolve(EventLoop::Impl& loop, const HostPort& host,
                                      Deadline deadline);

}  // namespace corolane::net::detail
