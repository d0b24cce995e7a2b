// What well-behaved clients notice of others that are not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

enum class Abuse : std::uint8_t {
  none,
  // 20,000 connections that never say hello, or half of one. More than a process may have: the
  // server has to refuse some.
  half_open,
  // 1,000 connections that ask as much as goes through, and never read a reply.
  never_reading,
};

// The 99th percentile, in microseconds, of a moderate load of calls of Echo while the abusers are
// there: connected, and stuck with what they send. The median over windows of a fraction of a
// second.
Measure latency_under(Abuse abuse, Serve serve);

}  // namespace corolane::bench
