// SPDX-License-Identifier: MIT
// Sends the metrics and the log of a node to a collector (node.otlp). Spans are sent by each shard.
//
//   NodeExports exports(network, config.otlp, resource, log,
//                       [&] { return collect_metrics(node); });
//   if (auto started = exports.start(); !started) return started;
//   ...
//   exports.stop(Deadline::after(250ms));
//
// Lines of the log are kept from the beginning on, within bounds, and sent after start(). Belongs
// to the thread of the node, which collects the metrics.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/telemetry/log.h"
#include "framework/telemetry/metrics.h"
#include "framework/telemetry/otlp_exporter.h"
#include "framework/telemetry/otlp_json.h"
#include "framework/telemetry/otlp_logs.h"
#include "framework/telemetry/otlp_metrics.h"
#include "framework/telemetry/otlp_transport.h"
#include "framework/telemetry/telemetry_config.h"

namespace corolane::framework::detail {

class NodeExports {
 public:
  using Collect = std::function<Result<MetricWriter>()>;

  struct Statistics {
    OtlpExporter::Statistics logs = {};
    OtlpExporter::Statistics metrics = {};
  };

  // All references outlive it; `config` is valid and names a collector. `collect` may suspend.
  NodeExports(net::Network& network, const OtlpConfig& config, OtlpResource resource, Log& log,
              Collect collect);
  // Drops what is not sent.
  ~NodeExports();
  NodeExports(const NodeExports&) = delete;
  NodeExports& operator=(const NodeExports&) = delete;

  // As OtlpTransport::open(), prepare_change() and change().
  Result<void> open(std::string_view headers) { return transport_->open(headers); }
  Result<void> prepare_change(std::string_view headers) {
    return transport_->prepare_change(headers);
  }
  void change() { transport_->change(); }

  // Begins to send. Fails with resource_exhausted when there is no stack.
  Result<void> start();
  // Sends the last lines and values once. Suspends, at most until the deadline.
  void stop(Deadline deadline);

  Statistics statistics() const;

 private:
  OtlpExporter::Options options_for(std::string_view what, const std::string& path);
  Result<void> spawn(const char* name, Duration interval, std::function<void()> send);
  void send_metrics();
  OtlpTimes times() const;
  void send_lines();

  const OtlpConfig config_;
  const OtlpResource resource_;
  Log& log_;
  const Collect collect_;
  const std::chrono::nanoseconds started_at_ = time_of_day().time_since_epoch();
  const std::unique_ptr<OtlpTransport> transport_;
  OtlpLogQueue lines_;
  std::unique_ptr<OtlpExporter> logs_;     // Null when the log is not sent.
  std::unique_ptr<OtlpExporter> metrics_;  // Null when metrics are not sent.
  coroutine::Event stopping_{"the end of the exports"};
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
