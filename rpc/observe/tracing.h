// SPDX-License-Identifier: MIT
// Opens a span for each call of a sampled trace, on the server and on the client, and decides which
// traces are sampled.
//
//   rpc::Tracer tracer({.sample_ratio = 0.01}, [&](const rpc::SpanRecord& span) { show(span); });
//   server.add_filter(tracer.server_filter(), rpc::FilterSees::outcomes);
//   rpc::Client client(network, peer, {.filters = {tracer.client_filter()}});
//
// The first process of a trace decides by the trace id whether it is sampled, and all others
// follow: a trace is recorded as a whole. A call inside a handler is a child of the handler's span,
// also from a task that the handler has spawned (call_scope.h). A call of an unsampled trace costs
// a look at its context, and nothing at all where no trace begins. A caller from outside may
// declare all of its traces sampled: their cost is bounded.
//
// Attributes are those of the OpenTelemetry conventions for RPC spans
// (https://opentelemetry.io/docs/specs/semconv/rpc/rpc-spans/, version 1.37).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <string_view>

#include "coroutine/base/clock.h"
#include "rpc/call_scope.h"
#include "rpc/filter.h"
#include "rpc/observe/span.h"

namespace corolane::rpc {

class Tracer {
 public:
  struct Options {
    double sample_ratio = 0;  // The sampled share of the traces that begin here, 0 to 1.
    // Spans recorded at the same time; further calls are not recorded. A few KiB each.
    std::size_t open_count_max = 4096;
    std::size_t attribute_count_max = 32;  // Per span, and per event.
    std::size_t event_count_max = 32;
    // A wait() that ends earlier is not recorded: nobody looks for it.
    Duration wait_min = std::chrono::microseconds(100);
    std::size_t text_bytes_max = 256;  // Per name, key and value.
    std::uint64_t random_seed = 0;     // Seeds the ids; 0 takes a seed from the system.
  };
  struct Statistics {
    std::uint64_t recorded_count = 0;  // Spans that have ended.
    std::uint64_t dropped_count = 0;   // Not recorded, because too many were open.
    std::size_t open_count = 0;
  };

  // Receives each recorded span when it has ended; must not suspend.
  using Sink = std::function<void(const SpanRecord& span)>;

  // The tracer outlives its spans and its filters, and belongs to one scheduler's thread.
  Tracer(const Options& options, Sink sink);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  ServerFilter server_filter() {
    return [this](Context& call, const Next& next) { return serve(call, next); };
  }
  ClientFilter client_filter() {
    return [this](OutgoingCall& call, const Next& next) { return make(call, next); };
  }

  // Applies to the traces that begin from now on.
  void set_sample_ratio(double ratio);

  // Opens a child of the running task's open span, or begins a trace.
  Span span(std::string_view name);

  // Opens a child of the running task's open span for a wait: for a turn, a lock, a store. It is
  // recorded when the trace is sampled and the wait took long enough; a task without a sampled
  // trace pays for one look at it. Never begins a trace. `tracer` may be null.
  //
  //   rpc::Span wait = rpc::Tracer::wait(tracer, "store write", rpc::SpanKind::client);
  //   if (auto written = store.write(row); !written) wait.fail(written.error());
  static Span wait(Tracer* tracer, std::string_view name, SpanKind kind = SpanKind::internal) {
    const CallScope* const scope = CallScope::current();
    if (scope == nullptr || !scope->trace.is_sampled) [[likely]]
      return {};
    return wait_traced(tracer, name, kind);
  }

  // Opens a child of `parent`, which has come with a message, in the task that handles it. Not
  // recorded when the trace is not sampled, and when `tracer` is null.
  static Span child(Tracer* tracer, const TraceContext& parent, SpanKind kind,
                    std::string_view name);

  // Records something that takes no time, as a child of `parent`; also where no task runs. Returns
  // the parent of what follows from it: its context, or `parent` when it is not recorded, as
  // above.
  //
  //   const rpc::TraceContext sent =
  //       rpc::Tracer::note(tracer, scope->trace, rpc::SpanKind::producer, "publish chess.Moved",
  //                         {{"messaging.system", "corolane"}});
  static TraceContext note(Tracer* tracer, const TraceContext& parent, SpanKind kind,
                           std::string_view name,
                           std::initializer_list<SpanAttribute> attributes = {});

  const Statistics& statistics() const { return statistics_; }

 private:
  friend class Span;

  static Span wait_traced(Tracer* tracer, std::string_view name, SpanKind kind);

  // Whether a call with that parent is recorded, or begins a trace that may be.
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

  // Begins a trace here, with its sampling decision.
  TraceContext begin_trace();
  TraceContext child_of(const TraceContext& parent);
  // Whether one more span may be open.
  bool has_room();
  std::uint64_t any_id();

  const Options options_;
  const Sink sink_;
  std::uint64_t root_bound_;  // How many of 2^63 trace ids are sampled.
  std::mt19937_64 random_;
  Statistics statistics_;
};

}  // namespace corolane::rpc
