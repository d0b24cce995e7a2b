// SPDX-License-Identifier: MIT
#include "framework/push/detail/publication_traces.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "framework/wire/push.pb.h"

namespace corolane::framework::detail {
namespace {

using rpc::SpanKind;
using rpc::TraceContext;
using rpc::Tracer;

constexpr std::string_view system_name = "corolane";

std::string span_name(std::string_view what, const google::protobuf::Message& message) {
  return std::string(what).append(" ").append(message.GetTypeName());
}

std::string destination(const Publisher& publisher) {
  return std::string(publisher.type).append("/").append(publisher.id);
}

}  // namespace

PublicationTrace note_published(Tracer* tracer, const TraceContext& parent,
                                const Publisher& publisher,
                                const google::protobuf::Message& message, Position position) {
  return std::make_shared<const TraceContext>(
      Tracer::note(tracer, parent, SpanKind::producer, span_name("publish", message),
                   {{"messaging.system", system_name},
                    {"messaging.operation.name", "publish"},
                    {"messaging.operation.type", "send"},
                    {"messaging.destination.name", destination(publisher)},
                    {"corolane.position.epoch", position.epoch},
                    {"corolane.position.sequence", position.sequence}}));
}

void note_received(Tracer* tracer, const Publisher& publisher,
                   const google::protobuf::Message& prototype, const PublishedBatch& batch,
                   const Arrival& arrival) {
  const std::string name = span_name("receive", prototype);
  const std::string from = destination(publisher);
  for (const PublishedBatch::Trace& traced : batch.traces) {
    Tracer::note(tracer, *traced.trace, SpanKind::consumer, name,
                 {{"messaging.system", system_name},
                  {"messaging.operation.name", "receive"},
                  {"messaging.operation.type", "receive"},
                  {"messaging.destination.name", from},
                  {"corolane.position.epoch", batch.after.epoch},
                  {"corolane.position.sequence", batch.after.sequence + traced.index + 1},
                  {"corolane.subscribers", arrival.subscriber_count},
                  {"corolane.from_other_node", arrival.is_from_other_node}});
  }
}

void DeliveryTrace::set(const TraceContext& trace) {
  rpc::CallScope::current_or_new().trace = trace;
}

rpc::Span DeliveryTrace::handle(Tracer* tracer) const {
  return Tracer::child(tracer, *published_->trace, SpanKind::consumer,
                       span_name("handle", *published_->message));
}

void add_traces(const PublishedBatch& batch, PublicationBatch& message) {
  for (const auto& [index, trace] : batch.traces) {
    PublicationTraceContext& added = *message.add_traces();
    added.set_index(static_cast<std::uint32_t>(index));
    added.set_trace_id(trace->trace_id.data(), trace->trace_id.size());
    added.set_span_id(trace->span_id);
  }
}

std::vector<PublishedBatch::Trace> traces_of(const PublicationBatch& message) {
  std::vector<PublishedBatch::Trace> traces;
  std::size_t next = 0;  // Each index is greater than the one before.
  for (const PublicationTraceContext& sent : message.traces()) {
    const std::size_t index = sent.index();
    if (index < next || index >= static_cast<std::size_t>(message.messages_size())) continue;
    TraceContext trace{.span_id = sent.span_id(), .is_sampled = true};
    if (!trace.is_valid() || sent.trace_id().size() != trace.trace_id.size()) continue;
    std::memcpy(trace.trace_id.data(), sent.trace_id().data(), trace.trace_id.size());
    if (trace.trace_id == TraceContext().trace_id) continue;
    traces.push_back({.index = index, .trace = std::make_shared<const TraceContext>(trace)});
    next = index + 1;
  }
  return traces;
}

}  // namespace corolane::framework::detail
