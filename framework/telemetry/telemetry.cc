// SPDX-License-Identifier: MIT
#include "framework/telemetry/telemetry.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "rpc/observe/call_outcome.h"

namespace corolane::framework {
namespace {

std::chrono::nanoseconds unix_offset() {
  return time_of_day().time_since_epoch() - now().time_since_epoch();
}

std::unique_ptr<OtlpTransport> make_transport(const OtlpConfig& config, net::Network& network) {
  if (config.endpoint.empty() || !config.traces) return nullptr;
  return make_otlp_transport(config, network);
}

std::unique_ptr<OtlpExporter> make_exporter(OtlpTransport* transport, const OtlpResource& resource,
                                            Log& log) {
  if (transport == nullptr) return nullptr;
  return std::make_unique<OtlpExporter>(
      *transport, OtlpExporter::Options{.body =
                                            [resource](std::span<const std::string> spans) {
                                              return otlp_traces(resource, spans);
                                            },
                                        .on_change = tell_of_collector(log, *transport, "spans"),
                                        .on_partial = tell_of_rejected(log, *transport, "spans")});
}

rpc::CallLog::Options call_log_options(const CallLogConfig& config) {
  using Errors = rpc::CallLog::Errors;
  return {.errors = config.errors ? Errors::of_server : Errors::none,
          .slow_after = config.slow_after,
          .one_in = config.one_in,
          .lines_per_second_max = config.lines_per_second_max};
}

}  // namespace

Telemetry::Telemetry(const Options& options, net::Network& network, Log& log)
    : log_(log),
      transport_(make_transport(options.otlp, network)),
      exporter_(make_exporter(transport_.get(), options.resource, log)),
      tracer_({.sample_ratio = exporter_ ? options.tracing.sample_ratio : 0,
               .open_count_max = exporter_ ? rpc::Tracer::Options{}.open_count_max : 0},
              [this](const rpc::SpanRecord& span) { take(span); }),
      call_log_(call_log_options(options.call_log),
                [this](const rpc::LoggedCall& call) { log_call(call); }) {
  if (exporter_) lock_spans_.emplace(tracer_);
}

void Telemetry::watch(rpc::Server& server) {
  // Without a collector no filter is needed: traces are passed on without one.
  if (exporter_) server.add_filter(tracer_.server_filter(), rpc::FilterSees::outcomes);
  server.add_observer(
      [this](rpc::Context& call, const Result<void>& outcome) {
        call_log_.look_at(call, outcome);
        slow_calls_.look_at(call, outcome, call.returned_at());
        set_bar();
      },
      &bar_);
}

void Telemetry::take(const rpc::SpanRecord& span) {
  const std::chrono::nanoseconds offset = unix_offset();
  exporter_->take([&] { return otlp_span(span, offset); });
  if (span.kind != rpc::SpanKind::server) return;
  exemplars_.note(span.name, span.end - span.start, span.context,
                  span.end.time_since_epoch() + offset);
}

Result<void> Telemetry::open(std::string_view headers) {
  return transport_ ? transport_->open(headers) : Result<void>();
}

Result<void> Telemetry::prepare_change(std::string_view headers) {
  return transport_ ? transport_->prepare_change(headers) : Result<void>();
}

void Telemetry::apply(const TracingConfig& tracing, const CallLogConfig& call_log) {
  if (transport_) transport_->change();
  if (exporter_) tracer_.set_sample_ratio(tracing.sample_ratio);
  call_log_.set_options(call_log_options(call_log));
  set_bar();
}

void Telemetry::set_bar() {
  const rpc::CallBar log = call_log_.bar();
  const rpc::CallBar slow = slow_calls_.bar();
  bar_ = {.took_max = std::min(log.took_max, slow.took_max), .ends_before = slow.ends_before};
}

void Telemetry::stop(Deadline deadline) {
  if (exporter_) exporter_->stop(deadline);
}

void Telemetry::log_call(const rpc::LoggedCall& call) {
  using Reason = rpc::LoggedCall::Reason;
  const std::string trace = call.trace.is_valid() ? rpc::trace_id_text(call.trace) : "none";
  const std::initializer_list<LogField> fields = {
      {"method", call.method},          {"peer", call.peer}, {"code", rpc::to_string(call.code)},
      {"took", call.duration},          {"trace", trace},    {"error", call.error},
      {"left_out", call.left_out_count}};
  switch (call.reason) {
    case Reason::failed:
      return log_.warning("call failed", fields);
    case Reason::slow:
      return log_.warning("call was slow", fields);
    case Reason::sampled:
      return log_.info("call", fields);
  }
}

void Telemetry::collect(MetricWriter& out) const {
  out.counter("corolane_rpc_call_log_left_out_total",
              "Calls that were not logged because there were too many.", {},
              call_log_.left_out_count());
  const rpc::Tracer::Statistics& spans = tracer_.statistics();
  out.counter("corolane_rpc_spans_total", "Spans that were recorded.", {}, spans.recorded_count);
  const auto sent = exporter_ ? exporter_->statistics() : OtlpExporter::Statistics{};
  out.counter("corolane_node_spans_sent_total", "Spans that the collector has accepted.", {},
              sent.sent_count);
  constexpr std::string_view dropped_help =
      "Spans that were lost: too many open or queued, or the collector refused them or was "
      "unreachable.";
  const auto dropped = [&](std::string_view reason, std::uint64_t count) {
    out.counter("corolane_node_spans_dropped_total", dropped_help, {{"reason", reason}}, count);
  };
  dropped("open", exporter_ ? spans.dropped_count : 0);
  dropped("queue", sent.overflow_count);
  dropped("refused", sent.refused_count);
  dropped("unreachable", sent.unreachable_count);
  out.gauge("corolane_node_spans_queued", "Spans that wait to be sent.", {}, sent.queued_count);
  out.gauge("corolane_node_spans_queued_bytes", "Size of the queued spans as text.", {},
            sent.queued_bytes);
}

}  // namespace corolane::framework
