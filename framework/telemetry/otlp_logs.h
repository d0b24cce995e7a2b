// SPDX-License-Identifier: MIT
// The lines of a log as the JSON of OTLP, and the queue in which they wait for the thread that
// sends them.
//
//   OtlpLogQueue queue;
//   log.set_tap([&](const LogEvent& event) { queue.take(event); });
//   ...
//   for (std::string& line : queue.drain()) exporter.take([&] { return std::move(line); });
//   log.set_tap(nullptr);
//
// A line that is written in a call has its trace and its span, whether the trace is sampled or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/telemetry/log.h"
#include "framework/telemetry/otlp_json.h"
#include "rpc/trace_context.h"

namespace corolane::framework {

// One line. `trace` may be none.
std::string otlp_log(const LogEvent& event, const rpc::TraceContext& trace);

// The body of a request with these lines.
std::string otlp_logs(const OtlpResource& resource, std::span<const std::string> lines);

// Thread-safe.
class OtlpLogQueue {
 public:
  // Some seconds of a log at its busiest.
  static constexpr std::size_t line_count_max = 4096;
  static constexpr std::size_t bytes_max = std::size_t{4} * 1024 * 1024;

  // Drops the line when the queue is full. Called in the task that writes it.
  void take(const LogEvent& event);
  // Empties the queue.
  std::vector<std::string> drain();
  // The number of lines dropped since the last call.
  std::uint64_t take_dropped_count();

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_count_ = 0;
};

}  // namespace corolane::framework
