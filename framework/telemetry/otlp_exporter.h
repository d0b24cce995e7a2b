// Sends spans to a collector, by OTLP over HTTP with JSON
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
//
//   OtlpExporter exporter(network, {.collector = {"127.0.0.1", 4318}}, resource);
//   rpc::Tracer tracer({.sample_ratio = 0.01}, [&](const auto& span) { exporter.take(span); });
//   ...
//   exporter.stop(Deadline::after(1s));
//
// No call ever waits for a collector. Spans become text as they end and queue up, within bounds; a
// task of its own sends them in batches, one at a time, and again when the collector has a moment
// of weakness. What does not fit, or is not wanted, is dropped and counted.
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
    std::size_t queue_bytes_max = 4 * 1024 * 1024;  // A thousand large spans.
    // To be sent together: what is there after `interval`, or as soon as there are so many. A
    // batch takes the loop about a millisecond.
    std::size_t batch_count_max = 512;
    std::chrono::milliseconds interval{2'000};
    std::chrono::milliseconds request_time_max{10'000};
    // After a failure that may pass; doubled, and drawn from the upper half. A collector that says
    // how long is believed, up to the longest.
    std::chrono::milliseconds retry_delay_min{500};
    std::chrono::milliseconds retry_delay_max{30'000};
    std::chrono::milliseconds batch_time_max{60'000};  // Then a batch is given up.
    // Says what time it is: nanoseconds since the Unix epoch; the system's clock if empty.
    std::function<std::chrono::nanoseconds()> unix_time = {};
    // Told of the first failure, and of the first success behind it; null for nobody.
    std::function<void(const Result<void>& outcome)> on_change = {};
  };

  struct Statistics {
    std::uint64_t sent_count = 0;         // Spans that the collector has taken.
    std::uint64_t overflow_count = 0;     // Dropped since the queue was full,
    std::uint64_t refused_count = 0;      // since the collector does not want them,
    std::uint64_t unreachable_count = 0;  // since it was not there for too long.
    std::uint64_t retry_count = 0;        // Requests that were sent again.
    std::size_t queued_count = 0;
    std::size_t queued_bytes = 0;
  };

  // `network` outlives it. Begins to send when the first span comes, in a task.
  OtlpExporter(net::Network& network, Options options, OtlpResource resource);
  // Drops what it still has.
  ~OtlpExporter();
  OtlpExporter(const OtlpExporter&) = delete;
  OtlpExporter& operator=(const OtlpExporter&) = delete;

  // Queues a span. Never suspends.
  void take(const rpc::SpanRecord& span);

  // Sends what is queued, once and without waiting for better times; suspends until it is sent, at
  // most until the deadline. Later spans are dropped.
  void stop(Deadline deadline);

  Statistics statistics() const;

 private:
  using Batch = std::vector<std::string>;

  void send_all();
  Result<void> wait_for_batch();
  Batch take_batch();
  void deliver(const Batch& batch);
  // What to do about a batch: nothing more, or to send it again after a while.
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
  coroutine::Event hurry_{"a batch of spans"};  // Set when one is full, or at the end.
  coroutine::Event stopping_{"the end of an exporter"};
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework
