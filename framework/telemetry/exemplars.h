// SPDX-License-Identifier: MIT
// The latest sampled call of each method and bucket of its latency: the exemplars of a histogram.
//
//   Exemplars exemplars;
//   exemplars.note("chess.Chess/Move", took, span.context, unix_time);
//   ...
//   out.histogram("corolane_rpc_call_seconds", help, labels, latency_us, buckets,
//                 exemplars.of("chess.Chess/Move"));
//
// Belongs to the thread of one shard.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "framework/telemetry/metrics.h"
#include "rpc/trace_context.h"

namespace corolane::framework {

class Exemplars {
 public:
  // More than a program has; the names are those of its own methods.
  static constexpr std::size_t method_count_max = 4096;

  // The exemplars of a method, one for a bucket of the metric of calls at most.
  std::span<const MetricExemplar> of(std::string_view method) const;
  void note(std::string_view method, Duration took, const rpc::TraceContext& trace,
            std::chrono::nanoseconds unix_time);

 private:
  std::map<std::string, std::vector<MetricExemplar>, std::less<>> by_method_;
};

}  // namespace corolane::framework
