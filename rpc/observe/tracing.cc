// SPDX-License-Identifier: MIT
#include "rpc/observe/tracing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>

#include "net/crypto.h"
#include "rpc/call_scope.h"
#include "rpc/observe/call_outcome.h"

namespace corolane::rpc {
namespace {

std::uint64_t bound_of(double ratio) {
  if (!(ratio > 0)) return 0;
  constexpr double whole = 0x1p63;
  return static_cast<std::uint64_t>(std::min(ratio, 1.0) * whole);
}

TraceContext not_sampled(TraceContext trace) {
  trace.is_sampled = false;
  return trace;
}

// `full_name` is "package.Service/Method".
void add_method(Span& span, std::string_view full_name) {
  const std::size_t slash = full_name.rfind('/');
  span.attribute("rpc.system", "corolane");
  span.attribute("rpc.service", full_name.substr(0, slash));
  span.attribute("rpc.method", full_name.substr(slash + 1));
}

// `peer` is "10.1.0.7:52310", "[::1]:8460" or "unix:/run/chess.sock".
void add_address(Span& span, std::string_view peer, const char* address_key, const char* port_key) {
  const std::size_t colon = peer.rfind(':');
  std::uint16_t port = 0;
  const char* const end = peer.data() + peer.size();
  if (colon != peer.npos) std::from_chars(peer.data() + colon + 1, end, port);
  if (port == 0) return span.attribute(address_key, peer);
  std::string_view address = peer.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  span.attribute(address_key, address);
  span.attribute(port_key, port);
}

void add_outcome(Span& span, const std::optional<Code>& outcome) {
  span.attribute("rpc.response.status_code", to_string(outcome));
}

}  // namespace

Tracer::Tracer(const Options& options, Sink sink)
    : options_(options),
      sink_(std::move(sink)),
      root_bound_(bound_of(options.sample_ratio)),
      random_(net::seed_or_random(options.random_seed)) {}

void Tracer::set_sample_ratio(double ratio) { root_bound_ = bound_of(ratio); }

std::uint64_t Tracer::any_id() {
  for (;;) {
    if (const std::uint64_t id = random_(); id != 0) return id;
  }
}

TraceContext Tracer::begin_trace() {
  const std::array<std::uint64_t, 2> id = {any_id(), any_id()};
  TraceContext trace{.span_id = any_id()};
  std::memcpy(trace.trace_id.data(), id.data(), trace.trace_id.size());
  // Decides by the last bytes of the id, as OpenTelemetry's TraceIdRatioBased does.
  std::uint64_t last = 0;
  for (const std::byte byte : std::span(trace.trace_id).last<8>()) {
    last = last << 8 | static_cast<std::uint8_t>(byte);
  }
  trace.is_sampled = last >> 1 < root_bound_;
  return trace;
}

TraceContext Tracer::child_of(const TraceContext& parent) {
  TraceContext child = parent;
  child.span_id = any_id();
  return child;
}

bool Tracer::has_room() {
  if (statistics_.open_count < options_.open_count_max) return true;
  ++statistics_.dropped_count;
  return false;
}

Result<void> Tracer::serve_traced(Context& call, const Next& next) {
  const TraceContext& parent = call.trace();
  const TraceContext trace = parent.is_valid() ? child_of(parent) : begin_trace();
  if (!trace.is_sampled || !has_room()) {
    // Passed on to callees, so that they do not decide again.
    if (!parent.is_valid()) CallScope::current_or_new().trace = not_sampled(trace);
    return next();
  }

  // Observers see it too, when the span has ended.
  CallScope::current_or_new().trace = trace;
  Span span(*this, SpanKind::server, call.method(), trace, parent.span_id, call.arrived_at());
  add_method(span, call.method());
  add_address(span, call.peer(), "network.peer.address", "network.peer.port");
  auto result = next();
  const auto outcome = outcome_of(call, result);
  add_outcome(span, outcome);
  if (is_fault_of_server(call, result)) span.set_failure(*outcome, result.error().message());
  span.end_at(call.returned_at());
  return result;
}

Result<void> Tracer::make_traced(OutgoingCall& call, const Next& next) {
  const TraceContext parent = call.trace;
  const TraceContext trace = parent.is_valid() ? child_of(parent) : begin_trace();
  if (!trace.is_sampled || !has_room()) {
    if (!parent.is_valid()) call.trace = not_sampled(trace);
    return next();
  }

  Span span(*this, SpanKind::client, call.method.full_name, trace, parent.span_id, now());
  add_method(span, call.method.full_name);
  add_address(span, call.peer, "server.address", "server.port");
  call.trace = trace;
  auto result = next();
  add_outcome(span, result ? std::nullopt : std::optional(result.error().code()));
  if (!result) span.fail(result.error());
  return result;
}

Span Tracer::wait_traced(Tracer* tracer, std::string_view name, SpanKind kind) {
  if (tracer == nullptr || !tracer->has_room()) return {};
  const TraceContext parent = CallScope::current()->trace;
  return {*tracer,
          kind,
          name,
          tracer->child_of(parent),
          parent.span_id,
          now(),
          tracer->options_.wait_min};
}

Span Tracer::child(Tracer* tracer, const TraceContext& parent, SpanKind kind,
                   std::string_view name) {
  if (!parent.is_sampled || tracer == nullptr || !tracer->has_room()) return {};
  return {*tracer, kind, name, tracer->child_of(parent), parent.span_id, now()};
}

TraceContext Tracer::note(Tracer* tracer, const TraceContext& parent, SpanKind kind,
                          std::string_view name, std::initializer_list<SpanAttribute> attributes) {
  if (!parent.is_sampled || tracer == nullptr || !tracer->has_room()) return parent;
  const TraceContext own = tracer->child_of(parent);
  Span span(*tracer, kind, name, own, parent.span_id);
  for (const auto& [key, value] : attributes) span.attribute(key, value);
  return own;
}

Span Tracer::span(std::string_view name) {
  const CallScope* const scope = CallScope::current();
  const TraceContext parent = scope == nullptr ? TraceContext{} : scope->trace;
  if (!concerns(parent)) return {};
  const TraceContext trace = parent.is_valid() ? child_of(parent) : begin_trace();
  if (!trace.is_sampled || !has_room()) return {};
  return {*this, SpanKind::internal, name, trace, parent.span_id, now()};
}

}  // namespace corolane::rpc
