// SPDX-License-Identifier: MIT
// The generator of closed loops: one thread, raw epoll, one read and one write per readiness.
//
// Requests that go out together share one sending time, and replies that arrive together share one
// time of arrival, so that the generator costs less than any server under its load.
#pragma once

#include "tools/benchmarks/network/generator.h"
#include "tools/benchmarks/network/protocol.h"

namespace corolane::bench {

Connect closed_loop(MakeProtocol make_protocol, Load load);

}  // namespace corolane::bench
