// SPDX-License-Identifier: MIT
// Sends spans to a collector, by OTLP over HTTP with JSON
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
//
//   OtlpExporter exporter(network, {.collector = {"127.0.0.1", 4318}}, resource);
//   rpc::Tracer tracer({.sample_ratio = 0.01}, [&](const auto& span) { exporter.take(span); });
//   ...
//   exporter.stop(Deadline::after(1s));
//
// No call ever waits for a collector. Spans are converted to text as they end and are queued,
// within bounds. A task sends them in batches, one at a time, and retries after a transient
// failure. Spans that do not fit, or that the collector refuses, are dropped and counted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/telemetry/otlp_json.h"
#include "net/http/http.h"
#include "net/network.h"
#include "rpc/observe/span.h"

namespace corolane::framework {

class OtlpExporter {
 public:
  struct Options {
    net::HostPort collector = {};
    std::string path = "/v1/traces";
    std::size_t queue_count_max = 4096;
    std::size_t queue_bytes_max = 4 * 1024 * 1024;  // About a thousand large spans.
    // A batch is sent after `interval`, or as soon as it has this many spans. It takes the loop
    // about a millisecond.
    std::size_t batch_count_max = 512;
    std::chrono::milliseconds interval{2'000};
    std::chrono::milliseconds request_time_max{10'000};
    // The delay after a transient failure: doubled each time, with jitter in its upper half. The
    // collector's own Retry-After is honoured, up to the maximum.
    std::chrono::milliseconds retry_delay_min{500};
    std::chrono::milliseconds retry_delay_max{30'000};
    std::chrono::milliseconds batch_time_max{60'000};  // After this time a batch is given up.
    // Returns the time in nanoseconds since the Unix epoch; the system's clock if empty.
    std::function<std::chrono::nanoseconds()> unix_time = {};
    // Called at the first failure, and at the first success after it; may be null.
    std::function<void(const Result<void>& outcome)> on_change = {};
  };

  struct Statistics {
    std::uint64_t sent_count = 0;         // Spans that the collector has accepted.
    std::uint64_t overflow_count = 0;     // Spans that were dropped because the queue was full,
    std::uint64_t refused_count = 0;      // because the collector refused them,
    std::uint64_t unreachable_count = 0;  // because it was unreachable for too long.
    std::uint64_t retry_count = 0;        // Requests that were sent again.
    std::size_t queued_count = 0;
    std::size_t queued_bytes = 0;
  };

  // `network` outlives the exporter. The first span starts a task that sends.
  OtlpExporter(net::Network& network, Options options, OtlpResource resource);
  // Drops the spans that are queued.
  ~OtlpExporter();
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  // Queues a span. Never suspends.
  void take(const rpc::SpanRecord& span);

  // Sends the queued spans once, without retries; suspends until they are sent, at most until the
  // deadline. Later spans are dropped.
  void stop(Deadline deadline);

  Statistics statistics() const;

 private:
  using Batch = std::vector<std::string>;

  void send_all();
  Result<void> wait_for_batch();
  Batch take_batch();
  void deliver(const Batch& batch);
  // The outcome of a batch, and whether and when to send it again.
  struct Verdict {
    Result<void> outcome;
    bool may_pass = false;
    std::chrono::milliseconds retry_after{0};
    std::uint64_t rejected_count = 0;
  };
  Verdict send(const std::string& body);
  Duration delay_after(const Verdict& verdict, int failed_count) const;
  void tell(const Result<void>& outcome);

  net::Network& network_;
  const Options options_;
  const OtlpResource resource_;
  std::deque<std::string> queue_;
  std::size_t queue_bytes_ = 0;
  std::size_t sending_count_ = 0;
  Statistics statistics_;
  bool is_well_ = true;
  bool is_running_ = false;
  coroutine::Event hurry_{"a batch of spans"};  // Set when a batch is full, or at the end.
  coroutine::Event stopping_{"the end of an exporter"};
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework
