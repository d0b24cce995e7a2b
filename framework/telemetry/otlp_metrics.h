// SPDX-License-Identifier: MIT
// Metrics as the JSON of OTLP.
//
//   MetricWriter out;
//   metrics.collect(out);
//   const std::string body = otlp_metrics(this_process("node-1", "chess"), out.families(),
//                                         {.start = started_at, .time = time});
//
// Names, labels and buckets are those of /metrics, so queries fit both. Counters are cumulative
// sums, and count from `start` on.
#pragma once

#include <chrono>
#include <string>

#include "framework/telemetry/metrics.h"
#include "framework/telemetry/otlp_json.h"

namespace corolane::framework {

// Since the Unix epoch.
struct OtlpTimes {
  std::chrono::nanoseconds start;  // Of the process.
  std::chrono::nanoseconds time;   // Of the values.
};

// The body of a request with these metrics.
std::string otlp_metrics(const OtlpResource& resource, const MetricFamilies& families,
                         const OtlpTimes& times);

}  // namespace corolane::framework
