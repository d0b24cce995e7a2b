// SPDX-License-Identifier: MIT
// Sends spans, or lines of the log, to a collector in batches.
//
//   OtlpExporter exporter(transport, {.path = "/v1/traces", .body = [&](const auto& spans) {
//                           return otlp_traces(resource, spans);
//                         }});
//   rpc::Tracer tracer({.sample_ratio = 0.01}, [&](const rpc::SpanRecord& span) {
//     exporter.take([&] { return otlp_span(span, unix_offset); });
//   });
//   ...
//   exporter.stop(Deadline::after(1s));
//
// No call ever waits for a collector. Items are converted to text as they come and are queued,
// within bounds. A task sends them in batches, one at a time, and retries after a transient
// failure. Items that do not fit, or that the collector refuses, are dropped and counted.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/telemetry/otlp_transport.h"

namespace corolane::framework {

class OtlpExporter {
 public:
  struct Options {
    std::string path = "/v1/traces";
    // Makes the body of a request with these items.
    std::function<std::string(std::span<const std::string> items)> body = {};
    std::size_t queue_count_max = 4096;
    std::size_t queue_bytes_max = 4 * 1024 * 1024;  // About a thousand large spans.
    // A batch is sent after `interval`, or as soon as it has this many items. It takes the loop
    // about a millisecond.
    std::size_t batch_count_max = 512;
    std::chrono::milliseconds interval{2'000};
    // The delay after a transient failure: doubled each time, with jitter in its upper half. The
    // collector's own Retry-After is honoured, up to the maximum.
    std::chrono::milliseconds retry_delay_min{500};
    std::chrono::milliseconds retry_delay_max{30'000};
    std::chrono::milliseconds batch_time_max{60'000};  // After this time a batch is given up.
    // Called at the first failure, and at the first success after it; may be null.
    std::function<void(const Result<void>& outcome)> on_change = {};
    // Called when a collector has accepted a request in part, or has something to say about it:
    // once a minute, with the number of items that it has rejected since; may be null.
    std::function<void(std::uint64_t rejected_count, const std::string& message)> on_partial = {};
  };

  struct Statistics {
    std::uint64_t sent_count = 0;         // Items that the collector has accepted.
    std::uint64_t overflow_count = 0;     // Items that were dropped because the queue was full,
    std::uint64_t refused_count = 0;      // because the collector refused them,
    std::uint64_t unreachable_count = 0;  // because it was unreachable for too long.
    std::uint64_t retry_count = 0;        // Requests that were sent again.
    std::size_t queued_count = 0;
    std::size_t queued_bytes = 0;
  };

  // `transport` outlives the exporter. The first item starts a task that sends.
  OtlpExporter(OtlpTransport& transport, Options options);
  // Drops the items that are queued.
  ~OtlpExporter();
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  // Queues the item that `make` returns, as JSON; does not call it when the queue is full. Never
  // suspends.
  template <std::invocable F>
  void take(F&& make) {
    if (has_room()) put(std::forward<F>(make)());
  }
  // Counts items that were lost before they came here.
  void count_overflow(std::uint64_t count) { statistics_.overflow_count += count; }

  // Sends the queued items once, without retries; suspends until they are sent, at most until the
  // deadline. Later items are dropped.
  void stop(Deadline deadline);

  Statistics statistics() const;

 private:
  using Batch = std::vector<std::string>;

  void send_all();
  Result<void> wait_for_batch();
  Batch take_batch();
  void deliver(const Batch& batch);
  void note_accepted(const OtlpAnswer& answer, std::size_t count);
  Duration delay_after(const OtlpAnswer& answer, int failed_count) const;
  void tell(const Result<void>& outcome);
  bool has_room();
  void put(std::string item);
  void start();

  OtlpTransport& transport_;
  const Options options_;
  std::deque<std::string> queue_;
  std::size_t queue_bytes_ = 0;
  std::size_t sending_count_ = 0;
  Statistics statistics_;
  std::uint64_t untold_count_ = 0;  // Rejected since on_partial() was called.
  TimePoint told_at_{};
  bool is_well_ = true;
  bool is_running_ = false;
  coroutine::Event hurry_{"a batch for the collector"};  // Set when a batch is full, or at the end.
  coroutine::Event stopping_{"the end of an exporter"};
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework
