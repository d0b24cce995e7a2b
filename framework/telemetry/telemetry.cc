// SPDX-License-Identifier: MIT
#include "framework/telemetry/telemetry.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "config/section.h"
#include "coroutine/base/encoding.h"
#include "framework/telemetry/version.h"
#include "net/crypto.h"
#include "net/endpoint.h"
#include "rpc/observe/call_outcome.h"

namespace corolane::framework {
namespace {

// Unique to this process, unlike the name, which an earlier node may have had.
std::string random_instance_id() {
  std::array<std::byte, 16> bytes;
  net::fill_with_random_bytes(bytes);
  return to_hex(bytes);
}

std::unique_ptr<OtlpExporter> make_exporter(const Telemetry::Options& options,
                                            net::Network& network, Log& log) {
  const std::string& text = options.tracing.collector;
  if (text.empty()) return nullptr;
  auto collector = net::parse_host_port(text);
  if (!collector) return nullptr;
  const auto tell = [&log, text](const Result<void>& outcome) {
    if (outcome) return log.info("collector accepts spans again", {{"collector", text}});
    log.warning("collector accepts no spans; they are queued, within bounds, and then dropped",
                {{"collector", text}, {"error", outcome.error().message()}});
  };
  return std::make_unique<OtlpExporter>(
      network, OtlpExporter::Options{.collector = *std::move(collector), .on_change = tell},
      OtlpResource{.service_name = options.node_name,
                   .service_version = std::string(version()),
                   .service_instance_id = random_instance_id()});
}

rpc::CallLog::Options call_log_options(const CallLogConfig& config) {
  using Errors = rpc::CallLog::Errors;
  return {.errors = config.errors ? Errors::of_server : Errors::none,
          .slow_after = config.slow_after,
          .one_in = config.one_in,
          .lines_per_second_max = config.lines_per_second_max};
}

}  // namespace

Result<void> check_collector(const std::string& text) {
  if (text.empty()) return {};
  auto collector = net::parse_host_port(text);
  if (!collector) return collector.error();
  return {};
}

void describe(config::Section& section, TracingConfig& value) {
  section.field(
      "collector", value.collector,
      "The collector of spans, by OTLP over HTTP, as host:port (usually 4318); empty for none.",
      config::where(check_collector, "host:port or nothing"));
  section.field(
      "sample_ratio", value.sample_ratio,
      "The share of calls that begin a trace here; callers decide about their own traces.",
      config::between(0.0, 1.0), config::live);
}

void describe(config::Section& section, CallLogConfig& value) {
  section.field("errors", value.errors,
                "Whether calls that fail through the node's fault are logged.", config::live);
  section.field("slow_after", value.slow_after, "Calls that take longer are logged.", config::live);
  section.field("one_in", value.one_in,
                "One in this many of all other calls is logged; 0 for none.", config::live);
  section.field("lines_per_second_max", value.lines_per_second_max,
                "The most lines about calls; further ones are only counted.", config::live);
}

Telemetry::Telemetry(const Options& options, net::Network& network, Log& log)
    : log_(log),
      exporter_(make_exporter(options, network, log)),
      tracer_({.sample_ratio = exporter_ ? options.tracing.sample_ratio : 0,
               .open_count_max = exporter_ ? rpc::Tracer::Options{}.open_count_max : 0},
              [this](const rpc::SpanRecord& span) { exporter_->take(span); }),
      call_log_(call_log_options(options.call_log),
                [this](const rpc::LoggedCall& call) { log_call(call); }) {}

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

void Telemetry::apply(const TracingConfig& tracing, const CallLogConfig& call_log) {
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
