// SPDX-License-Identifier: MIT
// The effect of abusive clients on well-behaved ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

enum class Abuse : std::uint8_t {
  none,
  // 20,000 connections that send no hello, or half of one. They exceed the limit of descriptors of
  // a process: the server has to refuse some.
  half_open,
  // 1,000 connections that send as many requests as they can, and never read a reply.
  never_reading,
};

// The 99th percentile, in microseconds, of a moderate load of Echo calls while the abusers are
// connected and stuck. It is the median over windows of a fraction of a second.
Measure latency_under(Abuse abuse, Serve serve);

}  // namespace corolane::bench
