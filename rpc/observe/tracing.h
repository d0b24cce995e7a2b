// Opens a span for each call of a trace that is sampled, on the side of the server and on that of
// the client, and says which traces are.
//
//   rpc::Tracer tracer({.sample_ratio = 0.01}, [&](const rpc::SpanRecord& span) { ... });
//   server.add_filter(tracer.server_filter());
//   rpc::Client client(network, peer, {.filters = {tracer.client_filter()}});
//
// The first process of a trace decides whether it is sampled, by the trace id, and all others do
// what it says: whoever looks at a trace sees all of it. A call inside a handler is a child of the
// handler's span, also from a task that the handler has spawned (call_scope.h). A call of a trace
// that is not sampled costs a look at its context, and nothing at all where no trace begins. A
// caller from outside may say that all of its traces are sampled: what that costs is bounded.
//
// Attributes are those of the OpenTelemetry conventions for RPC spans
// (https://opentelemetry.io/docs/specs/semconv/rpc/rpc-spans/, version 1.37).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string_view>

#include "rpc/filter.h"
#include "rpc/observe/span.h"

namespace corolane::rpc {

class Tracer {
 public:
  struct Options {
    double sample_ratio = 0;  // Of the traces that begin here: 0 for none, 1 for all.
    // Recorded at the same time; calls beyond are not. A few KiB each.
    std::size_t open_count_max = 4096;
    std::size_t attribute_count_max = 32;  // Of a span, and of an event.
    std::size_t event_count_max = 32;
    std::size_t text_bytes_max = 256;  // Of a name, a key, a value.
    std::uint64_t random_seed = 0;     // Of ids; 0 takes one from the system.
  };
  struct Statistics {
    std::uint64_t recorded_count = 0;  // Spans that have ended.
    std::uint64_t dropped_count = 0;   // Not recorded, since too many were open.
    std::size_t open_count = 0;
  };

  // Takes each recorded span when it has ended; must not suspend.
  using Sink = std::function<void(const SpanRecord& span)>;

  // Outlives its spans and its filters. All of it belongs to one scheduler's thread.
  Tracer(const Options& options, Sink sink);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  ServerFilter server_filter() {
    return [this](Context& call, const Next& next) { return serve(call, next); };
  }
  ClientFilter client_filter() {
    return [this](OutgoingCall& call, const Next& next) { return make(call, next); };
  }

  // Of the traces that begin from now on.
  void set_sample_ratio(double ratio);

  // Opens a child of the span that is open in the running task, or begins a trace.
  Span span(std::string_view name);

  const Statistics& statistics() const { return statistics_; }

 private:
  friend class Span;

  // Whether a call with that parent is recorded, or begins a trace that could be.
  bool concerns(const TraceContext& parent) const {
    return parent.is_sampled || (!parent.is_valid() && root_bound_ > 0);
  }
  Result<void> serve(Context& call, const Next& next) {
    return concerns(call.trace()) ? serve_traced(call, next) : next();
  }
  Result<void> make(OutgoingCall& call, const Next& next) {
    return concerns(call.trace) ? make_traced(call, next) : next();
  }
  Result<void> serve_traced(Context& call, const Next& next);
  Result<void> make_traced(OutgoingCall& call, const Next& next);

  // A trace that begins here, with the decision about it.
  TraceContext begin_trace();
  TraceContext child_of(const TraceContext& parent);
  // Whether one more may be open.
  bool has_room();
  std::uint64_t any_id();

  const Options options_;
  const Sink sink_;
  std::uint64_t root_bound_;  // Of the trace ids that are sampled, out of 2^63.
  std::mt19937_64 random_;
  Statistics statistics_;
};

}  // namespace corolane::rpc
