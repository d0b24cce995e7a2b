// What a node tells about its calls beside its metrics: spans to a collector, and lines in the log.
//
// `tracing:` is off until it is told where a collector is. A node with it off still hands the trace
// of a call on to the calls that it makes, so that it leaves no gap in the traces of others.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "config/section.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "framework/telemetry/log.h"
#include "framework/telemetry/metrics.h"
#include "framework/telemetry/otlp_exporter.h"
#include "framework/telemetry/slow_calls.h"
#include "net/network.h"
#include "rpc/observe/call_log.h"
#include "rpc/observe/tracing.h"
#include "rpc/server/server.h"

namespace corolane::framework {

struct TracingConfig {
  std::string collector;  // "host:port"; empty for no tracing.
  double sample_ratio = 0.01;
};

struct CallLogConfig {
  bool errors = true;
  Duration slow_after = std::chrono::seconds(1);
  std::uint64_t one_in = 0;
  std::uint32_t lines_per_second_max = 20;
};

void describe(config::Section& section, TracingConfig& value);
void describe(config::Section& section, CallLogConfig& value);

// Checks what a load checks.
Result<void> check_collector(const std::string& text);

class Telemetry {
 public:
  struct Options {
    std::string node_name;
    TracingConfig tracing;
    CallLogConfig call_log;
  };

  // All of them outlive it. What does not make sense in `tracing` turns it off.
  Telemetry(const Options& options, net::Network& network, Log& log);

  // Looks at the calls of a server, which it outlives.
  void watch(rpc::Server& server);
  // Opens spans, and traces the calls of clients: Client::Options::filters.
  rpc::Tracer& tracer() { return tracer_; }

  // What was slow, and what failed, of late.
  SlowCalls& slow_calls() { return slow_calls_; }
  const SlowCalls& slow_calls() const { return slow_calls_; }

  // What of these is live: how many traces begin, and which calls are logged.
  void apply(const TracingConfig& tracing, const CallLogConfig& call_log);

  // When the last call has ended: sends the spans that are left. Suspends, at most until the
  // deadline.
  void stop(Deadline deadline);

  void collect(MetricWriter& out) const;

 private:
  void log_call(const rpc::LoggedCall& call);
  void set_bar();

  Log& log_;
  std::unique_ptr<OtlpExporter> exporter_;  // Null when nobody wants spans.
  rpc::Tracer tracer_;
  rpc::CallLog call_log_;
  SlowCalls slow_calls_;
  rpc::CallBar bar_;  // The lower of theirs.
};

}  // namespace corolane::framework
