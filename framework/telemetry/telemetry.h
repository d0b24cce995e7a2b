// SPDX-License-Identifier: MIT
// Reports the calls of a node, besides its metrics: spans to a collector, and lines in the log.
//
//   Telemetry telemetry({.resource = this_process("node-1", "chess"),
//                        .otlp = {.endpoint = "127.0.0.1:4318"}},
//                       network, log);
//   telemetry.watch(server);
//   if (auto opened = telemetry.open(headers); !opened) return opened;
//
// Tracing is off until a collector is configured (node.otlp). A node with tracing off still passes
// the trace of a call on to the calls that it makes, so that it leaves no gap in the traces of
// others.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "framework/telemetry/exemplars.h"
#include "framework/telemetry/log.h"
#include "framework/telemetry/metrics.h"
#include "framework/telemetry/otlp_exporter.h"
#include "framework/telemetry/otlp_json.h"
#include "framework/telemetry/otlp_transport.h"
#include "framework/telemetry/slow_calls.h"
#include "framework/telemetry/telemetry_config.h"
#include "net/network.h"
#include "rpc/observe/call_log.h"
#include "rpc/observe/lock_spans.h"
#include "rpc/observe/tracing.h"
#include "rpc/server/server.h"

namespace corolane::framework {

class Telemetry {
 public:
  struct Options {
    OtlpResource resource;
    OtlpConfig otlp;
    TracingConfig tracing;
    CallLogConfig call_log;
  };

  // All references outlive it. Invalid values in `otlp` turn tracing off.
  Telemetry(const Options& options, net::Network& network, Log& log);

  // Observes the calls of a server; outlives it.
  void watch(rpc::Server& server);
  // Opens spans, and traces the calls of clients: Client::Options::filters.
  rpc::Tracer& tracer() { return tracer_; }

  // The slow and the failed calls of the last minutes.
  SlowCalls& slow_calls() { return slow_calls_; }
  const SlowCalls& slow_calls() const { return slow_calls_; }

  // Before the first call: takes the headers for the collector, and reads the files of TLS. Fails
  // as OtlpTransport::open(). `prepare_change` is the first step of a reload of the same; apply()
  // is the second.
  Result<void> open(std::string_view headers);
  Result<void> prepare_change(std::string_view headers);

  // The sampled calls among those of the metrics.
  const Exemplars& exemplars() const { return exemplars_; }

  // Applies the live keys: the share of calls that begin a trace, and the calls that are logged.
  void apply(const TracingConfig& tracing, const CallLogConfig& call_log);

  // Sends the spans that are left, after the last call has ended. Suspends, at most until the
  // deadline.
  void stop(Deadline deadline);

  void collect(MetricWriter& out) const;

 private:
  void take(const rpc::SpanRecord& span);
  void log_call(const rpc::LoggedCall& call);
  void set_bar();

  Log& log_;
  std::unique_ptr<OtlpTransport> transport_;  // Both are null when tracing is off.
  std::unique_ptr<OtlpExporter> exporter_;
  Exemplars exemplars_;
  rpc::Tracer tracer_;
  std::optional<rpc::LockSpans> lock_spans_;
  rpc::CallLog call_log_;
  SlowCalls slow_calls_;
  rpc::CallBar bar_;  // The lower of the bars of these two.
};

}  // namespace corolane::framework
